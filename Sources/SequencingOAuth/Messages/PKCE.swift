import SQBasics
import SQCrypto

/// The proof that a code is redeemed by the client that requested it; each sign-in has a new one.
///
/// The method is always `S256`. The method `plain` shows the verifier to everyone who sees the
/// authorization request, so the SDK does not use it.
///
/// - SeeAlso: RFC 7636, section 4
struct PKCE: Sendable {
  /// The `code_verifier`; it is secret until the token request.
  let verifier: String
  /// The `code_challenge`: the SHA-256 hash of the verifier, in base64url.
  let challenge: String
  /// The value of `code_challenge_method`.
  static let method = "S256"

  /// Creates a proof with a new, random verifier of 256 bits.
  init() {
    self.init(verifier: RandomString.make())
  }

  /// Creates the proof for a given verifier, so that a test can use the RFC's example.
  package init(verifier: String) {
    self.verifier = verifier
    challenge = Base64URL.encode(Digest.sha256(verifier))
  }
}

extension PKCE: Redacted {
  var description: String { "PKCE(S256)" }
}
