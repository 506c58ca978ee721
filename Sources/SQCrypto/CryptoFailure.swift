/// The reason why OpenSSL could not do its work.
package struct CryptoFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
