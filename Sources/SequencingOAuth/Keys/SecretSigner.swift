import SQBasics
import SQCrypto
import SQFoundation

/// A signer that uses a client's secret as the key of HMAC with SHA-256.
///
/// - SeeAlso: RFC 7518, section 3.2
struct SecretSigner: Redacted {
  /// The size of the shortest key for HMAC with SHA-256, in bytes.
  private static let shortestKey = 32

  private let secret: Data

  /// Creates the signer; throws if the secret is missing or too short to be a key.
  init(_ secret: String?) throws(SQOAuthError) {
    guard let secret, secret.utf8.count >= Self.shortestKey else {
      throw SQOAuthError(
        .invalidConfiguration,
        "client_secret_jwt needs a client secret of at least "
          + "\(Self.shortestKey) bytes; set the configuration's "
          + "clientAuthentication, if the server accepts another method")
    }
    self.secret = Data(secret.utf8)
  }

  /// Returns a signed JSON Web Token with these claims.
  func sign(_ claims: [String: JSONValue]) throws(SQOAuthError) -> String {
    let input = try JWTText.signingInput(
      ["alg": .string(JWSAlgorithm.hs256.rawValue), "typ": "JWT"], claims)
    guard let code = HMAC.code(of: Data(input.utf8), secret: secret, by: .sha256) else {
      throw SQOAuthError(
        .clientKeyFailed,
        OpenSSL.explained("libcrypto could not sign with the client's secret"))
    }
    return input + "." + Base64URL.encode(code)
  }

  var description: String { "signer by a client's secret" }
}
