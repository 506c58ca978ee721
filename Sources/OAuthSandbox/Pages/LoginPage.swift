import SQBasics
import SQLoopbackPages

/// The page where the user signs in with a name and a password.
struct LoginPage: Redacted {
  let request: String
  let formToken: String
  let pending: BrowserSessions.Pending
  /// The user name from the last attempt or the app's hint, so that the user need not type it.
  var userName = ""
  var hasFailed = false

  func answer(_ sandbox: SandboxState) -> Answer {
    let page = SandboxPage.page(
      .key, "Sign in", ["to continue to <strong>\(pending.client.name)</strong>"],
      HTML([alert, form]), news: hasFailed ? "Wrong password" : nil,
      hint: HTML([hint(sandbox), SandboxPage.time(pending, sandbox)]))
    return Answer(
      page.response(
        status: hasFailed ? 403 : 200, formTargets: pending.end.formTargets))
  }

  private var alert: HTML {
    guard hasFailed else { return .empty }
    return SandboxPage.alert("The user name or the password is wrong.")
  }

  private var form: HTML {
    let invalid: HTML = hasFailed ? " aria-invalid=\"true\" aria-describedby=\"problem\"" : ""
    let nameFocus: HTML = hasFailed ? "" : " autofocus"
    let passwordFocus: HTML = hasFailed ? " autofocus" : ""
    let name: HTML = """
      <input id="username" name="username" value="\(userName)" autocomplete="username" \
      autocapitalize="none" autocorrect="off" spellcheck="false" required\(invalid)\(nameFocus)>
      """
    let password: HTML = """
      <input id="password" name="password" type="password" autocomplete="current-password" \
      required\(invalid)\(passwordFocus)>
      """
    return """
      <form method="post" action="\(SandboxEndpoint.login.path)?request=\(request)">
      \(SandboxPage.hiddenFields(request: request, formToken: formToken))
      \(SandboxPage.field("User name", for: "username", name))
      \(SandboxPage.field("Password", for: "password", password))
      <div class="act"><button name="decision" value="sign-in">Sign in</button></div>
      <p class="aside"><button class="link" name="decision" value="cancel" \
      formnovalidate>Cancel and go back</button></p>
      </form>
      """
  }

  /// Returns a hint with the public password of the default user `alice`, or nothing if the options
  /// replace that user.
  private func hint(_ sandbox: SandboxState) -> HTML {
    guard sandbox.user("alice") == .alice else { return .empty }
    return "<p>Try <code>alice</code> with <code>alice-password</code>.</p>"
  }
}
