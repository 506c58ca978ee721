import SQBasics

/// A logout token to send to a client's logout address.
struct LogoutNotice: Sendable, Redacted {
  let uri: String
  let token: String
}

/// Functions that create logout tokens.
///
/// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.4
enum LogoutTokens {
  static let event = "http://schemas.openid.net/event/backchannel-logout"

  /// Creates a logout token, or returns `nil` if the client's algorithm is an HMAC and the client
  /// has no secret.
  static func make(
    for client: SandboxClient, subject: String?, sessionID: String?,
    fault: SandboxLogoutTokenFault?, _ sandbox: inout SandboxState
  ) -> String? {
    guard let key = sandbox.signingKey(client.idTokenAlgorithm, for: client) else { return nil }
    let issued = sandbox.seconds
    var claims: SandboxJSON = [
      "iss": .string(sandbox.issuer), "aud": .string(client.id), "iat": .integer(issued),
      "exp": .integer(issued + 120), "jti": .string(Crypto.secret("logout-")),
      "events": .object([.init(event, [:])]),
    ]
    claims["sub"] = subject.map(SandboxJSON.string)
    claims["sid"] = sessionID.map(SandboxJSON.string)
    let jwt = SandboxJWT(
      claims, type: "logout+jwt", key: key, namesKey: sandbox.options.openID.namesKeys)
    return fault?.token(from: jwt) ?? jwt.signed
  }
}

extension SandboxState {
  /// Creates and queues logout tokens for the clients of a session that have a logout address.
  mutating func noticeLogout(of signIn: UserSignIn) {
    let ids = ledger.grants.filter { $0.identity?.signIn.sessionID == signIn.sessionID }
      .map(\.clientID)
    for id in Set(ids).sorted() {
      guard let client = client(id), let uri = client.backchannelLogoutURI,
        let token = LogoutTokens.make(
          for: client, subject: subject(of: signIn.user), sessionID: signIn.sessionID, fault: nil,
          &self)
      else { continue }
      logoutNotices.append(LogoutNotice(uri: uri, token: token))
    }
  }

  mutating func takeLogoutNotices() -> [LogoutNotice] {
    defer { logoutNotices = [] }
    return logoutNotices
  }
}
