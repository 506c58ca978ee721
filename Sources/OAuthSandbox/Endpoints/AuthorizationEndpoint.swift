import Basics

/// The authorization endpoint, `/authorize` (RFC 6749, section 4.1.1; RFC 7636; RFC 9207).
enum AuthorizationEndpoint {
  private struct Refusal: Error {
    let code: String
    let description: String
  }

  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    // Until the client and its redirect URI are checked, the user is not sent to any redirect URI.
    guard request.isWellFormed, let id = request.query("client_id"),
      let client = sandbox.client(id)
    else { return ErrorPage.unknownClient(request, sandbox) }
    guard let redirectURI = request.query("redirect_uri"),
      RedirectURIs.contains(redirectURI, in: client.redirectURIs)
    else { return ErrorPage.unknownRedirect(request, client, sandbox) }

    let back = RedirectBack(redirectURI: redirectURI, state: request.query("state"))
    if case .errorRedirect(let parameters) = sandbox.plan.take(
      .authorization, where: \.isErrorRedirect)
    {
      return back.answer(parameters, &sandbox)
    }
    do throws(Refusal) {
      let scopes = try check(request.query, client, sandbox)
      return ask(request, client, back, scopes, &sandbox)
    } catch {
      return back.error(error.code, error.description, &sandbox)
    }
  }

  /// Checks the parameters other than the client and its redirect URI, and returns the scopes.
  private static func check(
    _ query: [SandboxParameter], _ client: SandboxClient, _ sandbox: SandboxState
  ) throws(Refusal) -> [String] {
    guard !query.hasDuplicates else {
      throw Refusal(code: "invalid_request", description: "A parameter came more than once.")
    }
    guard query.value("request") == nil, query.value("request_uri") == nil else {
      throw Refusal(code: "request_not_supported", description: "Send plain parameters.")
    }
    guard let responseType = query.value("response_type") else {
      throw Refusal(code: "invalid_request", description: "response_type is missing.")
    }
    guard responseType == "code" else {
      throw Refusal(code: "unsupported_response_type", description: "Only code is supported.")
    }
    guard client.accepts(grantType: "authorization_code") else {
      throw Refusal(
        code: "unauthorized_client", description: "This client may not use the code grant.")
    }
    guard query.value("response_mode") ?? "query" == "query" else {
      throw Refusal(code: "invalid_request", description: "Only response_mode=query is supported.")
    }
    try checkPKCE(query, isRequired: client.secret == nil || sandbox.options.requiresPKCEOfAll)
    guard let scopes = sandbox.scopes(query.value("scope"), for: client) else {
      throw Refusal(code: "invalid_scope", description: "There is no such scope for this client.")
    }
    return scopes
  }

  private static func checkPKCE(
    _ query: [SandboxParameter], isRequired: Bool
  ) throws(Refusal) {
    guard let challenge = query.value("code_challenge") else {
      guard !isRequired, query.value("code_challenge_method") == nil else {
        throw Refusal(code: "invalid_request", description: "code_challenge is missing.")
      }
      return
    }
    guard query.value("code_challenge_method") == "S256" else {
      throw Refusal(
        code: "invalid_request", description: "code_challenge_method must be S256.")
    }
    let isHash = challenge.utf8.count == 43 && challenge.utf8.allSatisfy(\.isBase64URL)
    guard isHash else {
      throw Refusal(code: "invalid_request", description: "code_challenge is not an S256 hash.")
    }
  }

  /// Shows the login page, or the consent page if the user is already signed in.
  private static func ask(
    _ request: SandboxRequest, _ client: SandboxClient, _ back: RedirectBack, _ scopes: [String],
    _ sandbox: inout SandboxState
  ) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    let session = sandbox.browsers.session(cookie)
    let user = sandbox.browsers.sessions[session]?.user
    if request.query("prompt") == "none" {
      return user == nil
        ? back.error("login_required", "No user is signed in.", &sandbox)
        : back.error("consent_required", "The user must be asked.", &sandbox)
    }
    let pending = BrowserSessions.Pending(
      session: session, client: client, redirectURI: back.redirectURI, state: back.state,
      scopes: scopes, challenge: request.query("code_challenge"),
      mustSignIn: request.query("prompt") == "login", begun: sandbox.now)
    let id = sandbox.browsers.begin(pending)
    var answer = ConsentEndpoint.page(id, cookie: session, sandbox)
    if session != cookie { answer.headers.append(sandbox.setCookie(session)) }
    return answer
  }
}

extension UInt8 {
  /// Whether base64url without padding may contain the byte.
  fileprivate var isBase64URL: Bool {
    isAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
  }
}
