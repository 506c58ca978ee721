public import SQFoundation

/// The sandbox as an OpenID provider: its addresses, keys and logouts.
extension SandboxServer {
  /// The address of the key set, `/jwks`.
  public var keysEndpoint: URL { url(.keys) }
  /// The address of the UserInfo endpoint, `/userinfo`.
  public var userInfoEndpoint: URL { url(.userInfo) }
  /// The address of the logout endpoint, `/logout`.
  public var endSessionEndpoint: URL { url(.endSession) }

  /// Replaces the signing keys with new ones.
  ///
  /// The old keys stay in the key set, so that older tokens can still be verified. If `keepingOld`
  /// is `false`, they disappear at once.
  public func rotateSigningKeys(keepingOld: Bool = true) {
    core.withState { $0.keys.rotate(keepsOld: keepingOld) }
  }

  /// Returns a logout token, as a client's server gets it when the user's session ends.
  ///
  /// The token's session, `sid`, is that of the user's newest grant for that client with the scope
  /// `openid`. If there is no such session, or if `namesSession` is `false`, the token has no
  /// `sid`. If `namesUser` is `false`, it has no `sub`. The result is `nil` if the client is
  /// unknown, or if its algorithm is an HMAC and the client has no secret.
  ///
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.4
  public func logoutToken(
    for user: String = SandboxUser.alice.name, client id: String = SandboxClient.app.id,
    namesUser: Bool = true, namesSession: Bool = true, fault: SandboxLogoutTokenFault? = nil
  ) -> String? {
    core.withState { state in
      guard let client = state.client(id) else { return nil }
      let grant = state.ledger.grants.last {
        $0.user == user && $0.clientID == id && $0.identity != nil
      }
      return LogoutTokens.make(
        for: client, subject: namesUser ? state.subject(of: user) : nil,
        sessionID: namesSession ? grant?.identity?.signIn.sessionID : nil, fault: fault, &state)
    }
  }

  /// Ends all browser sessions of a user, as an administrator would.
  ///
  /// Before this returns, the sandbox sends a logout token to each client of these sessions that
  /// has a ``SandboxClient/backchannelLogoutURI``. The apps' tokens stay valid.
  public func signOut(_ user: String = SandboxUser.alice.name) async {
    core.withState { state in
      for (id, session) in state.browsers.sessions {
        guard let signIn = session.signIn, signIn.user == user else { continue }
        state.browsers.endSession(id)
        state.noticeLogout(of: signIn)
      }
    }
    await core.sendLogoutNotices()
  }
}
