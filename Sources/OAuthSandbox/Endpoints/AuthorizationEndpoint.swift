/// An error that the authorization endpoint sends to the app (RFC 6749, section 4.1.2.1).
struct AuthorizationRefusal: Error {
  let code: String
  let description: String

  static func invalidRequest(_ description: String) -> Self {
    Self(code: "invalid_request", description: description)
  }
}

/// The authorization endpoint, `/authorize` (RFC 6749, section 4.1.1; RFC 7636; RFC 9207;
/// OpenID Connect Core 1.0, section 3.1.2).
enum AuthorizationEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    var request = request
    if let reference = request.query("request_uri"), reference.hasPrefix("urn:") {
      // Other parameters would be ignored (RFC 9126, section 4), so a client that sends them errs.
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
    else { return ErrorPage.unknownClient(request.query("client_id")) }
    guard let redirectURI = request.query("redirect_uri"),
      RedirectURIs.contains(redirectURI, in: client.redirectURIs)
    else { return ErrorPage.unknownRedirect(request, client, sandbox) }

    let mode = request.query("response_mode").flatMap(RedirectBack.Mode.init) ?? .query
    let back = RedirectBack(redirectURI: redirectURI, state: request.query("state"), mode: mode)
    if case .errorRedirect(let parameters) = sandbox.plan.take(
      .authorization, where: \.isErrorRedirect)
    {
      return back.answer(parameters, &sandbox)
    }
    do throws(AuthorizationRefusal) {
      let scopes = try check(request.query, client, sandbox)
      let openID = try OpenIDRequest(request.query, sandbox)
      let key = try sandbox.key(ofSignIn: request.query)
      return try ask(request, client, back, scopes, openID, key, &sandbox)
    } catch {
      return back.error(error.code, error.description, &sandbox)
    }
  }

  /// Checks the parameters other than the client and its redirect URI, and returns the scopes.
  static func check(
    _ query: [SandboxParameter], _ client: SandboxClient, _ sandbox: SandboxState
  ) throws(AuthorizationRefusal) -> [String] {
    guard !query.hasDuplicates else {
      throw .invalidRequest("A parameter came more than once.")
    }
    guard query.value("request") == nil, query.value("request_uri") == nil else {
      throw AuthorizationRefusal(
        code: "request_not_supported", description: "Send plain parameters.")
    }
    guard let responseType = query.value("response_type") else {
      throw .invalidRequest("response_type is missing.")
    }
    guard responseType == "code" else {
      throw AuthorizationRefusal(
        code: "unsupported_response_type", description: "Only code is supported.")
    }
    guard client.accepts(grantType: "authorization_code") else {
      throw AuthorizationRefusal(
        code: "unauthorized_client", description: "This client may not use the code grant.")
    }
    if let mode = query.value("response_mode"), RedirectBack.Mode(rawValue: mode) == nil {
      throw .invalidRequest("Only response_mode=query and form_post are supported.")
    }
    try checkPKCE(query, isRequired: !client.isConfidential || sandbox.options.requiresPKCEOfAll)
    guard let scopes = sandbox.scopes(query.value("scope"), for: client) else {
      throw AuthorizationRefusal(
        code: "invalid_scope", description: "There is no such scope for this client.")
    }
    return scopes
  }

  private static func checkPKCE(
    _ query: [SandboxParameter], isRequired: Bool
  ) throws(AuthorizationRefusal) {
    guard let challenge = query.value("code_challenge") else {
      guard !isRequired, query.value("code_challenge_method") == nil else {
        throw .invalidRequest("code_challenge is missing.")
      }
      return
    }
    guard query.value("code_challenge_method") == "S256" else {
      throw .invalidRequest("code_challenge_method must be S256.")
    }
    let isHash = challenge.utf8.count == 43 && challenge.utf8.allSatisfy(\.isBase64URL)
    guard isHash else {
      throw .invalidRequest("code_challenge is not an S256 hash.")
    }
  }

  /// Returns the first page of the sign-in, or sends the user back at once if `prompt` is `none`.
  private static func ask(
    _ request: SandboxRequest, _ client: SandboxClient, _ back: RedirectBack, _ scopes: [String],
    _ openID: OpenIDRequest, _ key: String?, _ sandbox: inout SandboxState
  ) throws(AuthorizationRefusal) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    let session = sandbox.browsers.session(cookie)
    let signIn = sandbox.browsers.sessions[session]?.signIn
    let pending = BrowserSessions.Pending(
      session: session, client: client, scopes: scopes,
      challenge: request.query("code_challenge"), end: .redirect(back), openID: openID,
      mustSignIn: signIn.map { !openID.accepts($0, sandbox) || !openID.acceptsContext(of: $0) }
        ?? openID.prompts.contains("login"),
      mustChooseAccount: openID.prompts.contains("select_account"), begun: sandbox.now, key: key)
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
  ) throws(AuthorizationRefusal) -> Answer {
    guard let signIn, pending.openID.accepts(signIn, sandbox) else {
      throw AuthorizationRefusal(code: "login_required", description: "The user must sign in.")
    }
    guard !pending.mustSignIn else {
      throw AuthorizationRefusal(
        code: "interaction_required", description: "The user must sign in in another way.")
    }
    let isAllowed = sandbox.browsers.hasConsent(
      of: signIn.user, to: pending.client.id, scopes: pending.scopes)
    guard isAllowed else {
      throw AuthorizationRefusal(code: "consent_required", description: "The user must be asked.")
    }
    return ConsentEndpoint.sendCode(pending, signIn, back, &sandbox)
  }
}
