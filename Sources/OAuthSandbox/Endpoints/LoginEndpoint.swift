/// The login page and its form: `/login`.
enum LoginEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    // A GET is a reload of the login page, or of the page after a wrong password.
    if request.isGet { return ConsentEndpoint.page(again: request, cookie: cookie, sandbox) }
    guard request.method == "POST" else { return .methodNotAllowed("GET, POST") }
    guard cookie != nil else { return ErrorPage.noCookie(sandbox) }
    guard
      let (id, pending, session) = sandbox.browsers.find(
        request.form("request"), cookie: cookie, at: sandbox.now)
    else { return ErrorPage.overSignIn(sandbox) }
    // If the user logged in on another page of this browser after this form was made, the form's
    // content is ignored.
    guard request.form("form_token") == session.formToken else { return ConsentEndpoint.again(id) }
    if request.form("decision") == "cancel" {
      sandbox.browsers.end(id)
      return pending.end.refuse("access_denied", "The user did not sign in.", &sandbox)
    }
    let name = request.form("username") ?? ""
    guard let user = sandbox.user(name, password: request.form("password") ?? ""),
      let newSession = sandbox.browsers.signIn(user.name, request: id, at: sandbox.now)
    else {
      return LoginPage(
        request: id, formToken: session.formToken, pending: pending, userName: name,
        hasFailed: true
      ).answer(sandbox)
    }
    guard pending.openID.accepts(user.name, sandbox) else {
      sandbox.browsers.end(id)
      var answer = pending.end.refuse("login_required", "Another user signed in.", &sandbox)
      answer.headers.append(sandbox.setCookie(newSession))
      return answer
    }
    var answer = ConsentEndpoint.again(id)
    answer.headers.append(sandbox.setCookie(newSession))
    return answer
  }
}
