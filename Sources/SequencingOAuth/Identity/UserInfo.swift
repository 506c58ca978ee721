import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the provider's UserInfo endpoint says about the user who signed in.
///
/// Only the SDK makes this value, and only if the response names the user of the ID token.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.3
public struct UserInfo: UserClaims, Hashable {
  /// The user's identifier at the issuer (`sub`), which equals that of the ID token.
  public let subject: String
  /// All claims by their names.
  ///
  /// Claims that the provider refers to but does not send are named by `_claim_names` and
  /// `_claim_sources`; the SDK does not fetch them.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.6.2
  public let claims: [String: JSONValue]

  /// Checks that the claims are about the user of an ID token.
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
}

extension UserInfo: Redacted {}
