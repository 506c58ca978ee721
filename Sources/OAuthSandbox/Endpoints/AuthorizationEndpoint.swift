/// The authorization endpoint, `/authorize` (RFC 6749, section 4.1.1; RFC 7636; RFC 9207;
/// OpenID Connect Core 1.0, section 3.1.2), by GET and by POST with a form.
enum AuthorizationEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet || request.method == "POST" else { return .methodNotAllowed("GET, POST") }
    var request = request.with(query: request.parameters)
    let reference = request.query("request_uri").flatMap { $0.hasPrefix("urn:") ? $0 : nil }
    if let reference {
      // Other parameters would be ignored (RFC 9126, section 4), so a client must not send them.
      guard Set(request.query.map(\.name)) == ["client_id", "request_uri"],
        let id = request.query("client_id"),
        let pushed = sandbox.pushed.take(reference, of: id, at: sandbox.now)
      else { return ErrorPage.unknownPushedRequest() }
      request = request.with(query: pushed.parameters)
    } else if sandbox.options.requiresPushedAuthorizationRequests {
      return ErrorPage.notPushed()
    }
    // The browser is sent to a redirect URI only after the client and the URI are checked.
    guard request.isWellFormed, let id = request.query("client_id"),
      let client = sandbox.client(id)
    else { return ErrorPage.unknownClient(request.query("client_id"), sandbox) }
    if reference == nil {
      do throws(RequestObjectFault) {
        request = request.with(
          query: try RequestObject.parameters(of: request.query, client, sandbox))
      } catch {
        return refuse(error, client, &sandbox)
      }
    }
    return answer(request, client, &sandbox)
  }

  /// Sends an error to the request's redirect URI or, if the URI is not registered, shows a page.
  private static func refuse(
    _ fault: RequestObjectFault, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) -> Answer {
    guard let back = RedirectBack(fault.parameters, client, sandbox) else {
      return ErrorPage.wrongRequestObject(fault.description, client)
    }
    return back.error(fault.code, fault.description, &sandbox)
  }

  /// Answers a known client's request, with the parameters of its pushed or signed request, if any.
  private static func answer(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) -> Answer {
    guard let back = RedirectBack(request.query, client, sandbox) else {
      return ErrorPage.unknownRedirect(request, client)
    }
    if case .errorRedirect(let parameters) = sandbox.plan.take(.authorization, at: .errorRedirect) {
      return back.answer(parameters, &sandbox)
    }
    do throws(OAuthFault) {
      let checked = try CheckedAuthorization(request.query, client, sandbox)
      return try ask(request, checked, back, &sandbox)
    } catch {
      return back.error(error.code, error.description, &sandbox)
    }
  }

  /// Returns the first page of the sign-in, or sends the user back at once if `prompt` is `none`.
  private static func ask(
    _ request: SandboxRequest, _ checked: CheckedAuthorization, _ back: RedirectBack,
    _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    let session = sandbox.browsers.session(cookie)
    let signIn = sandbox.browsers.sessions[session]?.signIn
    let openID = checked.openID
    let pending = BrowserSessions.Pending(
      session: session, client: checked.client, scopes: checked.scopes,
      challenge: checked.challenge, end: .redirect(back), openID: openID,
      mustSignIn: openID.mustSignIn(after: signIn, sandbox),
      mustChooseAccount: openID.prompts.contains("select_account"), begun: sandbox.now,
      key: checked.key, details: checked.details, resources: checked.resources)
    if openID.prompts.contains("none") {
      return try answerSilently(pending, signIn, back, &sandbox)
    }
    let id = sandbox.browsers.begin(pending)
    var answer = ConsentEndpoint.page(id, cookie: session, sandbox)
    if session != cookie { answer.headers.append(sandbox.setCookie(session)) }
    return answer
  }

  /// Answers `prompt=none` from the browser's session and the user's earlier consent.
  private static func answerSilently(
    _ pending: BrowserSessions.Pending, _ signIn: UserSignIn?, _ back: RedirectBack,
    _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> Answer {
    guard let signIn, pending.openID.accepts(signIn, sandbox) else {
      throw OAuthFault(code: "login_required", description: "The user must sign in.")
    }
    guard !pending.mustSignIn else {
      throw OAuthFault(
        code: "interaction_required", description: "The user must sign in in another way.")
    }
    let isAllowed = sandbox.browsers.hasConsent(
      of: signIn.user, to: pending.client.id, scopes: pending.scopes)
    // The user must consent to authorization details each time, because every payment is a new one.
    guard isAllowed, pending.details.isEmpty else {
      throw OAuthFault(code: "consent_required", description: "The user must be asked for consent.")
    }
    return ConsentEndpoint.sendCode(pending, signIn, back, &sandbox)
  }
}
