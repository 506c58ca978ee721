/// Why a signed text is refused.
package enum JWSFailure: Error, Sendable, Hashable {
  /// The text is longer than the limit.
  case tooLong
  /// The text does not have the form of a signed text; the reason quotes no part of it.
  case malformed(String)
  /// The text is encrypted.
  case encrypted
  /// The header names another type of text than the expected one.
  case type
  /// The header demands an extension.
  case critical
  /// The header names another algorithm than the expected one.
  case algorithm(found: String)
  /// No key fits the header and the algorithm.
  case noKey
  /// The only keys that fit are too short to protect anything.
  case weakKey
  /// The signature was not made with any of the keys that fit.
  case badSignature
}
