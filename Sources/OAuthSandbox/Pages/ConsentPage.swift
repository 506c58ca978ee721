import SQBasics
import SQLoopbackPages

/// The page that asks the user whether to give the app the requested access.
struct ConsentPage: Redacted {
  let request: String
  let formToken: String
  let pending: BrowserSessions.Pending
  let user: SandboxUser

  func answer(_ sandbox: SandboxState) -> Answer {
    let page = SandboxPage.page(
      .person(user.displayName), "Allow \(pending.client.name)?",
      [
        """
        It asks for access to the account of <strong>\(user.displayName)</strong> \
        (\(user.name))\(place). It will be able to:
        """
      ], HTML([rights(sandbox), form]), hint: SandboxPage.time(pending, sandbox))
    return Answer(page.response(formTargets: pending.end.formTargets))
  }

  /// The word "at" and the first three resources that the app requests; empty if there are none.
  private var place: HTML {
    guard !pending.resources.isEmpty else { return .empty }
    let names = pending.resources.prefix(3).map { HTML("<code>\(String($0.prefix(200)))</code>") }
    return " at \(HTML(names))"
  }

  private func rights(_ sandbox: SandboxState) -> HTML {
    let scopes = sandbox.options.scopes.filter { pending.scopes.contains($0.name) }
    let details = pending.details.map {
      DetailsText($0, sandbox.options.authorizationDetailsTypes).text
    }
    return """
      <ul class="rights">\(HTML((scopes.map(\.summary) + details).map(right)))</ul>
      """
  }

  private func right(_ summary: String) -> HTML {
    """
    <li><svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" \
    stroke="currentColor" stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round">\
    <path d="M5 12.5l4.5 4.5L19 7.5"/></svg><span>\(summary)</span></li>
    """
  }

  private var form: HTML {
    """
    <form method="post" action="\(SandboxEndpoint.consent.path)">
    \(SandboxPage.hiddenFields(request: request, formToken: formToken))
    <div class="choices">
    <button class="quiet" name="decision" value="deny">Deny</button>
    <button name="decision" value="allow">Allow</button>
    </div>
    <p class="aside">Not \(user.displayName)? \
    <button class="link" name="decision" value="switch">Use another account</button></p>
    </form>
    """
  }
}
