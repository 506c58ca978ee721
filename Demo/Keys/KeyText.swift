import SQCrypto
import SQFoundation
import SequencingOAuth

/// Functions that recognize the form of a key's text: PEM or a JSON Web Key, private or public.
enum KeyText {
  /// The maximum length of a key's text in bytes.
  private static let longest = 64 * 1024

  /// Reads the text of a private key, and rejects a file that other users can read or change.
  static func read(at path: String) throws(FileReading.ReadError) -> String {
    try text(of: try FileReading.key(of: path, atMost: longest))
  }

  /// Reads the text of a key that may be public.
  ///
  /// If it is private, other users must not be able to read or change the file.
  static func readAny(at path: String) throws(FileReading.ReadError) -> String {
    try text(
      of: try FileReading.content(of: path, atMost: longest) { start in
        !isPublic(String(decoding: start, as: UTF8.self))
      })
  }

  private static func text(of content: [UInt8]) throws(FileReading.ReadError) -> String {
    guard let text = String(validating: content, as: UTF8.self) else {
      throw FileReading.ReadError("it is not text in UTF-8")
    }
    // Some editors put a byte order mark before the text.
    return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
  }

  /// Returns whether the text is a private key in PEM that is encrypted with a passphrase.
  static func isEncrypted(_ text: String) -> Bool { !isJWK(text) && text.contains("ENCRYPTED") }

  /// Returns whether the text is a public key in PEM or a public JSON Web Key.
  static func isPublic(_ text: String) -> Bool {
    isJWK(text) ? members(text).map { $0["d"] == nil } ?? false : isPublicPEM(text)
  }

  private static func isPublicPEM(_ text: String) -> Bool {
    text.contains("-----BEGIN PUBLIC KEY-----") && !text.contains("PRIVATE KEY-----")
  }

  /// Converts a public key in PEM to the members of a JSON Web Key; `nil` if there is no such key.
  static func membersOfPEM(_ text: String) -> [String: String]? {
    PublicKey(pem: Data(text.utf8))?.members
  }

  /// Returns whether the text is JSON rather than PEM.
  static func isJWK(_ text: String) -> Bool { text.first { !$0.isWhitespace } == "{" }

  /// Returns the members of a JSON Web Key, or `nil` if the text is not a JSON object.
  static func members(_ text: String) -> [String: JSONValue]? {
    try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))
  }

  /// Returns the private key in a text.
  ///
  /// An RSA key that names no algorithm gets RS256 or, for a profile of FAPI 2.0, which forbids
  /// RS256, PS256.
  static func clientKey(
    _ text: String, for profile: SecurityProfile, passphrase: String? = nil
  ) throws(SQOAuthError) -> ClientKey {
    let key = try clientKey(text, algorithm: nil, passphrase)
    guard profile != .standard, key.algorithm == .rs256, !namesAlgorithm(text) else { return key }
    return try clientKey(text, algorithm: .ps256, passphrase)
  }

  private static func clientKey(
    _ text: String, algorithm: JWSAlgorithm?, _ passphrase: String?
  ) throws(SQOAuthError) -> ClientKey {
    isJWK(text)
      ? try ClientKey(jwk: text, algorithm: algorithm)
      : try ClientKey(pem: text, algorithm: algorithm, passphrase: passphrase)
  }

  private static func namesAlgorithm(_ text: String) -> Bool {
    isJWK(text) && members(text)?["alg"] != nil
  }
}
