import SQBasics
import SQFoundation

/// The claims about the signed-in user from the provider's UserInfo endpoint.
///
/// Only the SDK creates this value, and only if the response names the user of the ID token. For an
/// app's tests, the library `SequencingOAuthTesting` makes fakes.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.3
public struct UserInfo: UserClaims, Hashable {
  /// The user's identifier at the issuer (`sub`), as in the ID token.
  public let subject: String
  /// All claims by their names.
  ///
  /// The members `_claim_names` and `_claim_sources` name claims that other servers have; the SDK
  /// does not fetch those.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.6.2
  public let claims: [String: JSONValue]

  /// Creates the user information; throws if the claims are not about the user of an ID token.
  init(_ claims: [String: JSONValue], of idToken: IDToken) throws(SQOAuthError) {
    let reader = ClaimReader(
      claims: claims, subject: SignedText.userInfo.name, missing: .userInfoInvalid,
      malformed: .userInfoInvalid)
    let subject = try reader.required("sub", reader.text)
    guard subject == idToken.subject else {
      throw SQOAuthError(
        .userInfoInvalid, "the UserInfo response is about another user than the ID token")
    }
    self.subject = subject
    self.claims = claims
  }

  /// Creates user information for an app's tests from claims that no provider has sent.
  package init(unverified claims: [String: JSONValue], subject: String) {
    self.subject = subject
    self.claims = claims
  }
}

extension UserInfo: Redacted {}
