/// The reason why a signed text is rejected.
package enum JWSFailure: Error, Sendable, Hashable {
  /// The text is longer than the limit.
  case tooLong
  /// The text is not in the form of a signed text; the reason quotes no part of it.
  case malformed(String)
  /// The text is encrypted.
  case encrypted
  /// The header's `typ` is not the expected one.
  case type
  /// The header demands an extension.
  case critical
  /// The header names an unexpected algorithm.
  case algorithm(found: String)
  /// No key matches the header and the algorithm.
  case noKey
  /// All matching keys are too short to be secure.
  case weakKey
  /// No matching key verifies the signature.
  case badSignature
}
