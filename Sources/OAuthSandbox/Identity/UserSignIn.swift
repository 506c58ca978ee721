import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How and when a user signed in.
struct UserSignIn: Sendable, Redacted {
  let user: String
  let date: Date
  /// The authentication context, `acr`.
  let acr: String
  /// The ID of the browser's session, `sid`; another sign-in of this user in that browser keeps it.
  let sessionID: String
}

/// What a grant tells the app about the user.
struct Identity: Sendable, Redacted {
  let signIn: UserSignIn
  let nonce: String?
  let claims: ClaimsRequest
  let wantsAuthenticationTime: Bool

  init(_ signIn: UserSignIn, _ request: OpenIDRequest) {
    self.signIn = signIn
    nonce = request.nonce
    claims = request.claims
    wantsAuthenticationTime = request.wantsAuthenticationTime
  }

  /// The identity of a user who signed in without a page.
  init(_ signIn: UserSignIn) {
    self.signIn = signIn
    nonce = nil
    claims = ClaimsRequest()
    wantsAuthenticationTime = false
  }
}

/// What an ID token that the sandbox issued says about a session.
struct IDTokenHint: Redacted {
  let grant: TokenLedger.Grant
  let subject: String
}

extension SandboxState {
  /// The identity of a user who signs in at this moment without a browser.
  func identity(ofNew user: String) -> Identity {
    Identity(
      UserSignIn(
        user: user, date: now, acr: options.openID.acrValues.first ?? "0",
        sessionID: Crypto.secret("session-")))
  }

  /// The `sub` of a user, who need not be registered.
  func subject(of user: String) -> String { self.user(user)?.subject ?? user }

  /// Finds the sign-in that an ID token is about, even if the token has expired.
  ///
  /// The sandbox knows all ID tokens that it issued, so a token with a changed byte is unknown.
  func idTokenHint(_ token: String) -> IDTokenHint? {
    guard let grant = ledger.grant(ofIDToken: token), let user = grant.user else { return nil }
    return IDTokenHint(grant: grant, subject: subject(of: user))
  }
}
