/// The page where a user enters the code that a device shows, and its form: `/device`.
///
/// - SeeAlso: RFC 8628, section 3.3
enum DeviceEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    let session = sandbox.browsers.session(cookie)
    var answer: Answer
    if request.isGet {
      answer = form(request.query("user_code"), session, sandbox)
    } else if request.method == "POST" {
      guard cookie != nil else { return ErrorPage.noCookie(sandbox) }
      answer = enter(request, session, &sandbox)
    } else {
      return .methodNotAllowed("GET, POST")
    }
    if session != cookie { answer.headers.append(sandbox.setCookie(session)) }
    return answer
  }

  /// Returns the page where the user types the code.
  ///
  /// If the address contains a valid code, the user only compares it with the code on the device.
  private static func form(
    _ userCode: String?, _ session: String, _ sandbox: SandboxState, hasFailed: Bool = false
  ) -> Answer {
    guard let formToken = sandbox.browsers.sessions[session]?.formToken else {
      return ErrorPage.overSignIn()
    }
    let code = userCode.flatMap { sandbox.devices.deviceCode(of: $0, at: sandbox.now) }
    return DeviceCodePage(
      formToken: formToken, userCode: userCode ?? "",
      client: hasFailed ? nil : code.flatMap { sandbox.devices.byDeviceCode[$0]?.client },
      hasFailed: hasFailed
    ).answer
  }

  /// Begins the sign-in for the code that the user entered.
  private static func enter(
    _ request: SandboxRequest, _ session: String, _ sandbox: inout SandboxState
  ) -> Answer {
    guard request.form("form_token") == sandbox.browsers.sessions[session]?.formToken else {
      return form(request.form("user_code"), session, sandbox)
    }
    let typed = request.form("user_code") ?? ""
    guard let code = sandbox.devices.deviceCode(of: typed, at: sandbox.now),
      let device = sandbox.devices.byDeviceCode[code]
    else { return form(typed, session, sandbox, hasFailed: true) }
    let signIn = sandbox.browsers.sessions[session]?.signIn
    let id = sandbox.browsers.begin(
      BrowserSessions.Pending(
        session: session, client: device.client, scopes: device.scopes, challenge: nil,
        end: .device(code), openID: device.openID,
        mustSignIn: device.openID.mustSignIn(after: signIn, sandbox),
        mustChooseAccount: device.openID.prompts.contains("select_account"), begun: sandbox.now,
        details: device.details, resources: device.resources))
    return ConsentEndpoint.page(id, cookie: session, sandbox)
  }
}
