import SQBasics

/// The endpoint where an app asks the user to log out, and its form: `/logout`.
///
/// It ends the browser's session. The app's tokens stay valid until they are revoked. `logout_hint`
/// and `ui_locales` have no effect.
///
/// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0, section 2
enum EndSessionEndpoint {
  /// A logout request that passed every check.
  struct Logout: Redacted {
    var client: SandboxClient?
    var hint: IDTokenHint?
    /// The redirect back to the app, or `nil` if the logout ends with a page of the sandbox.
    var back: RedirectBack?
  }

  private enum Refusal: Error {
    case hint
    case client
    case repeatedParameter
    case redirect(SandboxClient?)
  }

  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet || request.method == "POST" else { return .methodNotAllowed("GET, POST") }
    let parameters = request.parameters
    do throws(Refusal) {
      guard request.isQueryWellFormed else { throw .client }
      guard !parameters.hasDuplicates else { throw .repeatedParameter }
      return answer(request, parameters, try check(parameters, sandbox), &sandbox)
    } catch {
      switch error {
      case .hint: return ErrorPage.unknownHint()
      case .client:
        return ErrorPage.unknownClient(parameters.value("client_id"), sandbox, isLogout: true)
      case .repeatedParameter: return ErrorPage.repeatedParameter()
      case .redirect(let client): return ErrorPage.unknownLogoutRedirect(parameters, client)
      }
    }
  }

  /// Ends the session if the user confirmed the logout or the ID token hint belongs to the session;
  /// otherwise asks the user.
  ///
  /// If the user chose to stay signed in, the session continues. If there is no session, the logout
  /// succeeds at once.
  private static func answer(
    _ request: SandboxRequest, _ parameters: [SandboxParameter], _ logout: Logout,
    _ sandbox: inout SandboxState
  ) -> Answer {
    guard let cookie = request.sessionCookie(sandbox),
      let session = sandbox.browsers.sessions[cookie], let signIn = session.signIn
    else { return finish(logout, &sandbox) }
    let isOwnForm = parameters.value("form_token") == session.formToken
    if isOwnForm && parameters.value("decision") == "stay" { return SignOutPage.stayed }
    let isWanted = isOwnForm && parameters.value("decision") == "sign-out"
    // Without this check, another site could log the user out (RP-Initiated Logout 1.0, section 6).
    let isProven = logout.hint?.grant.identity?.signIn.sessionID == signIn.sessionID
    guard isWanted || isProven else {
      return SignOutPage(
        formToken: session.formToken, parameters: parameters, logout: logout,
        user: sandbox.user(signIn.user)?.displayName ?? signIn.user
      ).answer
    }
    sandbox.browsers.endSession(cookie)
    sandbox.noticeLogout(of: signIn)
    return finish(logout, &sandbox)
  }

  private static func check(
    _ parameters: [SandboxParameter], _ sandbox: SandboxState
  ) throws(Refusal) -> Logout {
    var logout = Logout()
    if let token = parameters.value("id_token_hint") {
      guard let hint = sandbox.idTokenHint(token) else { throw .hint }
      logout.hint = hint
    }
    if let id = parameters.value("client_id") ?? logout.hint?.grant.clientID {
      guard let client = sandbox.client(id) else { throw .client }
      guard logout.hint?.grant.clientID ?? id == id else { throw .hint }
      logout.client = client
    }
    if let uri = parameters.value("post_logout_redirect_uri") {
      guard let client = logout.client, client.postLogoutRedirectURIs.contains(uri) else {
        throw .redirect(logout.client)
      }
      logout.back = RedirectBack(redirectURI: uri, state: parameters.value("state"), of: client)
    }
    return logout
  }

  private static func finish(_ logout: Logout, _ sandbox: inout SandboxState) -> Answer {
    logout.back?.afterLogout(&sandbox) ?? SignOutPage.signedOut
  }
}
