import SQBasics
import SQFoundation

/// A user's sign-in: who signed in, when and how.
struct UserSignIn: Sendable, Redacted {
  let user: String
  let date: Date
  /// The authentication context class, `acr`.
  let acr: String
  /// The ID of the browser's session, `sid`, which stays the same when the same user signs in
  /// again.
  let sessionID: String

  /// The date as the claim `auth_time`.
  var time: SandboxJSON { .integer(Int(date.timeIntervalSince1970)) }

  /// Adds the sign-in to an access token or to its introspection (RFC 9470, section 6).
  func describe(in claims: inout SandboxJSON) {
    claims["auth_time"] = time
    claims["acr"] = .string(acr)
  }
}

/// The content of a grant's ID tokens and UserInfo responses: the sign-in and the requested claims.
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

  /// Creates the identity of a user who signed in without the sandbox's pages.
  init(_ signIn: UserSignIn) {
    self.signIn = signIn
    nonce = nil
    claims = ClaimsRequest()
    wantsAuthenticationTime = false
  }
}

/// The grant and subject of an ID token that an app sent as `id_token_hint`.
struct IDTokenHint: Redacted {
  let grant: TokenLedger.Grant
  let subject: String
}

extension SandboxState {
  /// Returns the identity of a user who signs in now without a browser.
  func identity(ofNew user: String) -> Identity {
    Identity(
      UserSignIn(
        user: user, date: now, acr: options.openID.acrValues.first ?? "0",
        sessionID: Crypto.secret("session-")))
  }

  /// Returns the `sub` of a user, which is the user's name if the user is not registered.
  func subject(of user: String) -> String { self.user(user)?.subject ?? user }

  /// Returns the grant and subject of an ID token of the sandbox, even if the token has expired.
  ///
  /// The sandbox remembers its ID tokens and compares whole texts, so a changed token is unknown.
  func idTokenHint(_ token: String) -> IDTokenHint? {
    guard let grant = ledger.grant(ofIDToken: token), let user = grant.user else { return nil }
    return IDTokenHint(grant: grant, subject: subject(of: user))
  }
}
