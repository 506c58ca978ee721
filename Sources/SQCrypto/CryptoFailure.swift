/// An error: an OpenSSL function failed.
package struct CryptoFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  /// Creates the error of a call, which also names what OpenSSL's configuration has taken away.
  ///
  /// `needed` is an algorithm that the call needs and that not every provider has.
  init(_ description: String, needing needed: OpenSSL.Algorithm? = nil) {
    self.description = OpenSSL.explained(description, needing: needed)
  }
}
