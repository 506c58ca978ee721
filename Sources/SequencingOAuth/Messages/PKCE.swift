import Basics

/// The proof that the code is redeemed by the client that asked for it, new for each sign-in.
///
/// Only the method `S256` exists here; `plain` protects nothing and is neither sent nor accepted.
///
/// - SeeAlso: RFC 7636, section 4
struct PKCE: Sendable {
  /// `code_verifier`: a secret until the token request.
  let verifier: String
  /// `code_challenge`: base64url of the SHA-256 of the verifier.
  let challenge: String
  /// `code_challenge_method`.
  static let method = "S256"

  /// Makes a proof with a fresh 256-bit verifier.
  init() {
    self.init(verifier: RandomString.make())
  }

  /// Makes the proof of a given verifier, for the published vectors.
  package init(verifier: String) {
    self.verifier = verifier
    challenge = RandomString.base64URL(Digest.sha256(verifier))
  }
}

extension PKCE: Redacted {
  var description: String { "PKCE(S256)" }
}
