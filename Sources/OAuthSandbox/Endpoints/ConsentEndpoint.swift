#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The endpoint of the page that asks the user for consent, and of its form: `/consent`.
enum ConsentEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    if request.isGet { return page(again: request, cookie: cookie, sandbox) }
    guard request.method == "POST" else { return .methodNotAllowed("GET, POST") }
    guard
      let (id, pending, session) = sandbox.browsers.find(request.form("request"), cookie: cookie),
      request.form("form_token") == session.formToken, let user = session.user,
      !pending.mustSignIn
    else { return ErrorPage.overSignIn(sandbox) }

    let back = RedirectBack(redirectURI: pending.redirectURI, state: pending.state)
    switch request.form("decision") {
    case "allow":
      sandbox.browsers.end(id)
      let code = issueCode(pending, user: user, &sandbox)
      return back.answer([SandboxParameter(name: "code", value: code)], &sandbox)
    case "deny":
      sandbox.browsers.end(id)
      return back.error("access_denied", "The user did not allow the access.", &sandbox)
    case "switch":
      sandbox.browsers.signOut(request: id)
      return Answer(
        status: 303,
        headers: [("Location", "/consent?request=\(id)"), ("Cache-Control", "no-store")],
        content: .text(""))
    default:
      return page(id, cookie: cookie, sandbox)
    }
  }

  /// The page of the sign-in that the request names, or of the newest sign-in in that browser.
  static func page(
    again request: SandboxRequest, cookie: String?, _ sandbox: SandboxState
  ) -> Answer {
    page(request.query("request") ?? sandbox.browsers.latest(cookie), cookie: cookie, sandbox)
  }

  /// The page that a sign-in needs next: the login form or the question for consent.
  static func page(_ id: String?, cookie: String?, _ sandbox: SandboxState) -> Answer {
    guard let (id, pending, session) = sandbox.browsers.find(id, cookie: cookie) else {
      return ErrorPage.overSignIn(sandbox)
    }
    guard let user = session.user.flatMap(sandbox.user), !pending.mustSignIn else {
      return LoginPage(request: id, formToken: session.formToken, pending: pending)
        .answer(sandbox)
    }
    return ConsentPage(request: id, formToken: session.formToken, pending: pending, user: user)
      .answer(sandbox)
  }

  private static func issueCode(
    _ pending: BrowserSessions.Pending, user: String, _ sandbox: inout SandboxState
  ) -> String {
    let code = Crypto.secret("code-")
    sandbox.ledger.codes[code] = TokenLedger.Code(
      clientID: pending.client.id, user: user, scopes: pending.scopes,
      redirectURI: pending.redirectURI, challenge: pending.challenge,
      expiry: sandbox.now.addingTimeInterval(sandbox.options.codeLifetime.timeInterval))
    return code
  }
}
