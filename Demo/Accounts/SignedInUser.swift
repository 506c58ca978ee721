import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The user of an account: what the ID token says, and what the provider says now.
struct SignedInUser: UserClaims {
  let idToken: IDToken
  let claims: [String: JSONValue]
  /// Why the provider could not be asked; `nil` if it was.
  let problem: SQOAuthError?

  var subject: String { idToken.subject }

  /// Finds the user of an account; returns `nil` if the sign-in asked for no identity.
  ///
  /// The provider is asked only if the ID token does not say the user's name, or with `isFresh`.
  static func find(_ oauth: SQOAuth, isFresh: Bool = false) async -> SignedInUser? {
    guard let idToken = oauth.currentToken?.idToken else { return nil }
    let kept = SignedInUser(idToken: idToken, claims: idToken.claims, problem: nil)
    guard isFresh || kept.shownName == nil else { return kept }
    do throws(SQOAuthError) {
      let info = try await oauth.userInfo()
      return SignedInUser(
        idToken: idToken, claims: idToken.claims.merging(info.claims) { $1 }, problem: nil)
    } catch {
      return SignedInUser(idToken: idToken, claims: idToken.claims, problem: error)
    }
  }

  /// The name to greet the user with; `nil` if the provider says none.
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

  /// How the user was authenticated, in the provider's words.
  private var how: String {
    (idToken.authenticationMethods + [idToken.authenticationContextClass].compactMap(\.self))
      .joined(separator: ", ")
  }

  /// The user as one line of JSON: the account, and every claim by its own name.
  func json(account: String) throws(Failure) -> String {
    try oneLineOfJSON(
      .object([
        "account": .string(account), "issuer": .string(idToken.issuer),
        "subject": .string(subject), "name": shownName.map { .string($0) } ?? .null,
        "claims": .object(claims),
      ]))
  }
}
