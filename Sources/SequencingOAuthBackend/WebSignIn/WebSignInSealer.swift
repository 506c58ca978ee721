public import SQBasics
import SQCrypto
import SQFoundation
public import SequencingOAuth

/// A sealer that turns web sign-ins into texts for a cookie of the user's browser.
///
/// Each text is encrypted, authenticated and bound to one browser session: only the same session
/// can open it. It consists of at most ``maximumLength`` characters of base64url, so it fits in a
/// cookie. All hosts of the application need the same key. A sealer may be used on any thread.
public struct WebSignInSealer: Sendable {
  /// The maximum length of a text, in characters.
  ///
  /// Browsers accept cookies of at least 4096 bytes, including their names and attributes.
  ///
  /// - SeeAlso: RFC 6265, section 6.1
  public static let maximumLength = 3_800

  private let services: [EncryptionService]

  /// Creates a sealer; reads a key file immediately, or creates it if it is missing.
  ///
  /// Sign-ins are sealed with `key`, and opened with `key` or one of the `otherKeys`. To change the
  /// key, first add the new key to the other keys on all hosts. Then make it the `key` and move the
  /// old key to the other keys. Remove the old key after `ClientConfiguration.signInTimeout` and
  /// `ClientConfiguration.clockTolerance`.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` for a passphrase, because hosts would
  ///   derive different keys from it, and for a key that does not have 32 bytes; the error of a key
  ///   file that cannot be read.
  public init(key: StoreKey, otherKeys: [StoreKey] = []) throws(SQOAuthError) {
    services = try ([key] + otherKeys).map { key throws(SQOAuthError) in
      guard case .key(let bytes) = try key.secret(makingFile: true) else {
        throw SQOAuthError(
          .invalidConfiguration,
          "a passphrase cannot seal web sign-ins: use a key of 32 random bytes or a key file")
      }
      let derived = try CryptoFailure.reported { () throws(CryptoFailure) in
        try KeyDerivation.hkdf(bytes, salt: Data(), info: Self.purpose, count: 32)
      }
      return try EncryptionService(key: derived)
    }
  }

  private static let purpose = Data("SequencingOAuth web sign-in 1\n".utf8)

  /// Seals a sign-in for the browser session that began it.
  ///
  /// `session` is a text that only this browser sends, such as the random value of a cookie that
  /// was set before. Another browser cannot finish the sign-in, even with a stolen text.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the session is empty, because the
  ///   sign-in would be bound to no browser, or if the text would be longer than ``maximumLength``,
  ///   for example because of a very long scope. The key of a sign-in that binds its tokens by
  ///   PS256 is always too long.
  public func seal(_ signIn: WebSignIn, session: String) throws(SQOAuthError) -> String {
    guard !session.isEmpty else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the browser session of a sign-in is empty, so any browser could finish the sign-in; pass "
          + "a text that only this browser sends")
    }
    guard let content = try? JSONEncoder().encode(signIn) else {
      throw SQOAuthError(.invalidConfiguration, "the sign-in cannot be written as JSON")
    }
    let text = Base64URL.encode(
      try services[0].seal(content, authenticating: Self.context(session)))
    guard text.utf8.count <= Self.maximumLength else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the sign-in is too long for a cookie; keep it on the server, or ask for fewer scopes (a "
          + "sign-in that binds tokens by PS256 is always too long)")
    }
    return text
  }

  /// Opens a text from ``seal(_:session:)``, which needs the same `session`.
  ///
  /// - Throws: `SQOAuthError.Code.webSignInInvalid` if the text was changed, was sealed with
  ///   another key or belongs to another browser session; `SQOAuthError.Code.storeFailed` if
  ///   OpenSSL cannot read the key to which the sign-in's tokens will be bound.
  public func open(_ text: String, session: String) throws(SQOAuthError) -> WebSignIn {
    guard !session.isEmpty, text.utf8.count <= Self.maximumLength, let box = Base64URL.decode(text)
    else {
      throw .webSignInInvalid
    }
    for service in services {
      guard let content = try? service.open(box, authenticating: Self.context(session)) else {
        continue
      }
      guard let signIn = try StoredDecoder.value(WebSignIn.self, from: content) else { break }
      return signIn
    }
    throw .webSignInInvalid
  }

  private static func context(_ session: String) -> Data { purpose + Data(session.utf8) }
}

extension WebSignInSealer: Redacted {
  /// A fixed text, without the keys.
  public var description: String { "sealer of web sign-ins" }
}

extension SQOAuthError {
  fileprivate static let webSignInInvalid = SQOAuthError(
    .webSignInInvalid,
    "the stored value of the sign-in was changed, was sealed by another key, or belongs to another "
      + "browser session; let the user sign in again")
}
