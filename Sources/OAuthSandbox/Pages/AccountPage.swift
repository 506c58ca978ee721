import SQBasics
import SQLoopbackPages

/// The page where a signed-in user chooses an account.
struct AccountPage: Redacted {
  let request: String
  let formToken: String
  let pending: BrowserSessions.Pending
  let user: SandboxUser

  func answer(_ sandbox: SandboxState) -> Answer {
    let page = SandboxPage.page(
      .person(user.displayName), "Choose an account",
      ["to continue to <strong>\(pending.client.name)</strong>"], form,
      hint: SandboxPage.time(pending, sandbox))
    return Answer(page.response(formTargets: pending.end.formTargets))
  }

  private var form: HTML {
    """
    <form method="post" action="\(SandboxEndpoint.consent.path)">
    \(SandboxPage.hiddenFields(request: request, formToken: formToken))
    \(SandboxPage.hidden("account", user.name))
    <div class="act"><button name="decision" value="continue">\
    Continue as \(user.displayName)</button></div>
    <p class="aside"><button class="link" name="decision" value="switch">\
    Use another account</button></p>
    </form>
    """
  }
}
