import Foundation

@testable import SequencingOAuth

extension SQToken {
  /// Returns the token with a validated ID token of a user at an issuer, for the client `client`.
  func naming(_ user: String, at issuer: String) throws -> SQToken {
    let idToken = try IDToken(
      unverified: [
        "iss": .string(issuer), "sub": .string(user), "aud": "client",
        "exp": .integer(4_000_000_000), "iat": .integer(1_700_000_000),
      ], compactForm: "ID-token-of.\(user).signed")
    return identifying(idToken, nonce: nil)
  }
}
