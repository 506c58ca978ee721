import SQBasics

/// A form of a sign-in's pages, which the browser of that sign-in has sent.
struct SignInForm: Redacted {
  /// The identifier of the sign-in.
  let id: String
  let pending: BrowserSessions.Pending
  let session: BrowserSessions.Session

  /// Checks that a form belongs to a sign-in of this browser, then calls `work` with the form.
  ///
  /// Answers a GET, such as a reload, with the page that the sign-in needs next.
  static func answer(
    _ request: SandboxRequest, _ sandbox: inout SandboxState,
    work: (SignInForm, inout SandboxState) -> Answer
  ) -> Answer {
    let cookie = request.sessionCookie(sandbox)
    if request.isGet { return ConsentEndpoint.page(again: request, cookie: cookie, sandbox) }
    guard request.method == "POST" else { return .methodNotAllowed("GET, POST") }
    guard cookie != nil else { return ErrorPage.noCookie(sandbox) }
    guard
      let (id, pending, session) = sandbox.browsers.find(
        request.form("request"), cookie: cookie, at: sandbox.now)
    else { return ErrorPage.overSignIn() }
    // The form's content is ignored if the user signed in or out on another page of this browser
    // after the form was made.
    guard request.form("form_token") == session.formToken else { return ConsentEndpoint.again(id) }
    return work(SignInForm(id: id, pending: pending, session: session), &sandbox)
  }
}
