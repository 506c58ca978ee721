/// An error: an OpenSSL function failed.
package struct CryptoFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
