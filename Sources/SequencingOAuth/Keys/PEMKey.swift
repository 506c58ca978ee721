import SQBasics
import SQCrypto
import SQFoundation

/// A reader and writer of private keys in PEM, with OpenSSL.
///
/// - SeeAlso: RFC 7468
enum PEMKey {
  static let maximumSize = 64 << 10

  static func read(_ text: String, passphrase: String?) throws(SQOAuthError) -> PrivateKey {
    try check(passphrase)
    guard text.utf8.count <= maximumSize else {
      throw .unusableClientKey("the text is longer than any key in PEM")
    }
    // PKCS#8 has the word "ENCRYPTED" in its label; the older formats have it in a header line.
    let isSealed = text.contains("ENCRYPTED")
    guard isSealed == (passphrase != nil) else {
      throw SQOAuthError(
        .wrongPassphrase,
        isSealed
          ? "the client key is encrypted with a passphrase, but none was given"
          : "the client key is not encrypted, but a passphrase was given")
    }
    guard text.ranges(of: "PRIVATE KEY-----").count <= 2 else {
      throw .unusableClientKey(
        "the text has several private keys, and nothing says which one is meant; keep one")
    }
    if let key = PrivateKey(pem: Data(text.utf8), passphrase: passphrase) { return key }
    // A FIPS provider has no scrypt.
    let derivation = isSealed && usesScrypt(text) ? OpenSSL.Algorithm.derivation("SCRYPT") : nil
    if let lack = SQOAuthError.lackForReadingKey(derivation) { throw lack }
    if let type = PrivateKey.unsupportedType(pem: Data(text.utf8), passphrase: passphrase) {
      throw .unusableClientKey(
        "a key of the type \(type.printable) is not supported; use a plain RSA key, also for PS256, or a "
          + "P-256, P-384, P-521 or Ed25519 key")
    }
    guard !isSealed else {
      throw SQOAuthError(
        .wrongPassphrase,
        "the client key cannot be opened: the passphrase is wrong, or the text is damaged")
    }
    guard text.contains("PRIVATE KEY-----") || !text.contains("-----BEGIN ") else {
      throw .unusableClientKey(
        "the text has no private key; a public key or a certificate cannot sign")
    }
    throw .unusableClientKey(
      "the text is not a complete RSA, P-256, P-384, P-521 or Ed25519 private key in PEM")
  }

  static func write(_ key: PrivateKey, passphrase: String?) throws(SQOAuthError) -> String {
    try check(passphrase)
    guard !key.hasNoPrimes else {
      throw .unusableClientKey("an RSA key without its primes cannot be written in PEM")
    }
    guard let text = key.pem(passphrase: passphrase) else {
      throw SQOAuthError(
        .clientKeyFailed, OpenSSL.explained("libcrypto cannot write the client key"))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns whether an encrypted key contains the identifier of scrypt, 1.3.6.1.4.1.11591.4.11.
  ///
  /// - SeeAlso: RFC 7914, section 7
  static func usesScrypt(_ text: String) -> Bool {
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
      .filter { $0.first != UInt8(ascii: "-") }
    let content = Data(base64Encoded: Data(lines.joined()), options: .ignoreUnknownCharacters)
    let identifier = Data([0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B])
    return content?.firstRange(of: identifier) != nil
  }

  /// Throws for a passphrase that OpenSSL would cut off or treat as missing.
  private static func check(_ passphrase: String?) throws(SQOAuthError) {
    guard let passphrase else { return }
    guard (1...1024).contains(passphrase.utf8.count), !passphrase.utf8.contains(0) else {
      throw SQOAuthError(
        .invalidConfiguration, "a passphrase must have 1 to 1024 bytes without a NUL")
    }
  }
}
