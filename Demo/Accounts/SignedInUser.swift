import SQBasics
import SQFoundation
import SequencingOAuth

/// The user of an account, from the ID token and the provider's current information.
struct SignedInUser: UserClaims {
  let idToken: IDToken
  let claims: [String: JSONValue]
  /// The error of the request to the provider; `nil` if it did not fail.
  let problem: SQOAuthError?

  var subject: String { idToken.subject }

  /// Finds the user of an account, and returns `nil` if the sign-in requested no identity.
  ///
  /// It asks the provider only if the ID token does not contain the user's name, or if `isFresh` is
  /// `true`.
  static func find(_ oauth: SQOAuth, isFresh: Bool = false) async -> SignedInUser? {
    guard let idToken = oauth.currentToken?.idToken else { return nil }
    let kept = SignedInUser(idToken: idToken, claims: idToken.claims, problem: nil)
    guard isFresh || kept.shownName == nil else { return kept }
    do throws(SQOAuthError) {
      let info = try await oauth.userInfo()
      return SignedInUser(
        idToken: idToken, claims: merged(idToken.claims, with: info.claims), problem: nil)
    } catch {
      return SignedInUser(idToken: idToken, claims: idToken.claims, problem: error)
    }
  }

  /// Returns the verified claims of an ID token, updated with newer claims of the provider.
  ///
  /// Only standard claims about the user are updated; other claims, such as a tenant's, stay as
  /// they were verified.
  static func merged(
    _ verified: [String: JSONValue], with newer: [String: JSONValue]
  ) -> [String: JSONValue] {
    let replacing = newer.filter {
      verified[$0.key] == nil || OpenIDClaims.aboutUsers.contains($0.key)
    }
    return verified.merging(replacing) { $1 }
  }

  /// The standard claims about a user, which the provider can change later.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.1
  private enum OpenIDClaims {
    static let aboutUsers: Set = [
      "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username",
      "profile", "picture", "website", "email", "email_verified", "gender", "birthdate", "zoneinfo",
      "locale", "phone_number", "phone_number_verified", "address", "updated_at",
    ]
  }

  /// The name for greeting the user; `nil` if the provider sent none.
  var shownName: String? { name ?? preferredUsername ?? email }
}

extension SignedInUser: Redacted {}

extension SignedInUser {
  /// The user as text, with the name in the first line.
  var text: String {
    let mail = email.map { "\($0)\(isEmailVerified == true ? " (verified)" : "")" }
    let fields: [(name: String, value: String?)] = [
      ("username", preferredUsername), ("e-mail", mail), ("phone", phoneNumber),
      ("language", localeName), ("picture", pictureURL?.absoluteString), ("subject", subject),
      ("issuer", idToken.issuer),
      ("login", idToken.authenticationDate?.formatted(.iso8601)),
      ("how", how.isEmpty ? nil : how),
    ]
    return (shownName ?? subject).onScreen + "\n"
      + Fields.text(fields.map { ($0.name, $0.value?.onScreen) })
  }

  /// The methods of the user's authentication, in the provider's words.
  private var how: String {
    (idToken.authenticationMethods + [idToken.authenticationContextClass].compactMap(\.self))
      .joined(separator: ", ")
  }

  /// Returns the user as one line of JSON: the account, and every claim by its own name.
  func json(account: String) throws(Failure) -> String {
    try oneLineOfJSON(
      .object([
        "account": .string(account), "issuer": .string(idToken.issuer),
        "subject": .string(subject), "name": shownName.map { .string($0) } ?? .null,
        "claims": .object(claims),
      ]))
  }
}
