/// An error: an OpenSSL function failed.
package struct CryptoFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  /// Creates the error of a failed call, and adds what OpenSSL's configuration lacks, if anything.
  ///
  /// `needed` is an algorithm that the call needs and that some providers lack.
  init(_ description: String, needing needed: OpenSSL.Algorithm? = nil) {
    self.description = OpenSSL.explained(description, needing: needed)
  }
}
