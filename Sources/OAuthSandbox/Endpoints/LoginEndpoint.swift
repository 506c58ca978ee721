/// The login page and its form: `/login`.
enum LoginEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    SignInForm.answer(request, &sandbox) { form, sandbox in
      if request.form("decision") == "cancel" {
        sandbox.browsers.end(form.id)
        return form.pending.end.refuse("access_denied", "The user did not sign in.", &sandbox)
      }
      let name = request.form("username") ?? ""
      guard let user = sandbox.user(name, password: request.form("password") ?? ""),
        let newSession = sandbox.browsers.signIn(user.name, request: form.id, at: sandbox.now)
      else {
        return LoginPage(
          request: form.id, formToken: form.session.formToken, pending: form.pending,
          userName: name, hasFailed: true
        ).answer(sandbox)
      }
      var answer = ConsentEndpoint.again(form.id)
      if !form.pending.openID.accepts(user.name, sandbox) {
        sandbox.browsers.end(form.id)
        answer = form.pending.end.refuse("login_required", "Another user signed in.", &sandbox)
      }
      answer.headers.append(sandbox.setCookie(newSession))
      return answer
    }
  }
}
