import SQFoundation

/// The page that asks the user for consent, and its form: `/consent`.
enum ConsentEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    SignInForm.answer(request, &sandbox) { form, sandbox in
      guard let signIn = form.session.signIn, !form.pending.mustSignIn else {
        return again(form.id)
      }
      switch request.form("decision") {
      case "allow" where !form.pending.mustChooseAccount:
        sandbox.browsers.end(form.id)
        return allow(form.pending, signIn, &sandbox)
      case "deny":
        sandbox.browsers.end(form.id)
        return form.pending.end.refuse(
          "access_denied", "The user did not allow the access.", &sandbox)
      case "continue":
        sandbox.browsers.keepAccount(request: form.id)
        return again(form.id)
      case "switch":
        sandbox.browsers.signOut(request: form.id)
        return again(form.id)
      default:
        return page(form.id, cookie: request.sessionCookie(sandbox), sandbox)
      }
    }
  }

  private static func allow(
    _ pending: BrowserSessions.Pending, _ signIn: UserSignIn, _ sandbox: inout SandboxState
  ) -> Answer {
    guard pending.openID.accepts(signIn.user, sandbox) else {
      // A different user signed in on another page of this browser.
      return pending.end.refuse("login_required", "Another user signed in.", &sandbox)
    }
    sandbox.browsers.remember(
      consentOf: signIn.user, to: pending.client.id, scopes: pending.scopes)
    switch pending.end {
    case .redirect(let back):
      return sendCode(pending, signIn, back, &sandbox)
    case .device(let deviceCode):
      let now = sandbox.now
      let isInTime = sandbox.devices.change(deviceCode) { device in
        guard device.expiry > now else { return false }
        device.decision = .allowed(signIn)
        return true
      }
      return DeviceCodePage.end(isAllowed: isInTime == true)
    }
  }

  /// Issues an authorization code and sends the browser back to the app with it.
  static func sendCode(
    _ pending: BrowserSessions.Pending, _ signIn: UserSignIn, _ back: RedirectBack,
    _ sandbox: inout SandboxState
  ) -> Answer {
    let code = Crypto.secret("code-")
    let identity = pending.scopes.contains("openid") ? Identity(signIn, pending.openID) : nil
    sandbox.ledger.codes[code] = TokenLedger.Code(
      clientID: pending.client.id, user: signIn.user, scopes: pending.scopes,
      redirectURI: back.redirectURI, challenge: pending.challenge, keyThumbprint: pending.key,
      details: pending.details, identity: identity, signIn: signIn, resources: pending.resources,
      expiry: sandbox.now.addingTimeInterval(sandbox.options.codeLifetime.timeInterval))
    return back.answer([SandboxParameter(name: "code", value: code)], &sandbox)
  }

  /// Redirects the browser to the page that the sign-in needs next.
  static func again(_ id: String) -> Answer {
    Answer(
      status: 303,
      headers: [
        ("Location", "\(SandboxEndpoint.consent.path)?request=\(id)"),
        ("Cache-Control", "no-store"),
      ],
      content: .text(""))
  }

  /// Returns the next page of the sign-in that the request names, or of this browser's newest
  /// sign-in.
  static func page(
    again request: SandboxRequest, cookie: String?, _ sandbox: SandboxState
  ) -> Answer {
    let id = request.query("request") ?? sandbox.browsers.latest(cookie, at: sandbox.now)
    return page(id, cookie: cookie, sandbox)
  }

  /// Returns the page that a sign-in needs next: the login form, the account choice or the consent
  /// question.
  static func page(_ id: String?, cookie: String?, _ sandbox: SandboxState) -> Answer {
    guard
      let (id, pending, session) = sandbox.browsers.find(id, cookie: cookie, at: sandbox.now)
    else {
      return ErrorPage.overSignIn()
    }
    guard let user = session.user.flatMap(sandbox.user), !pending.mustSignIn else {
      return LoginPage(
        request: id, formToken: session.formToken, pending: pending,
        userName: pending.openID.loginHint ?? ""
      ).answer(sandbox)
    }
    if pending.mustChooseAccount {
      return AccountPage(request: id, formToken: session.formToken, pending: pending, user: user)
        .answer(sandbox)
    }
    return ConsentPage(request: id, formToken: session.formToken, pending: pending, user: user)
      .answer(sandbox)
  }
}
