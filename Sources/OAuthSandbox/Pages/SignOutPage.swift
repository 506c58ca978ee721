import SQBasics
import SQLoopbackPages

/// The page that asks the user whether to sign out, and the pages after it.
struct SignOutPage: Redacted {
  let formToken: String
  let parameters: [SandboxParameter]
  let logout: EndSessionEndpoint.Logout
  let user: String

  var answer: Answer {
    let page = SandboxPage.page(
      .person(user), "Sign out?",
      [occasion], form)
    return Answer(page.response(formTargets: logout.back.map(\.formTargets) ?? ["'self'"]))
  }

  private var occasion: HTML {
    guard let client = logout.client else { return "<strong>\(user)</strong> is signed in here." }
    return "<strong>\(client.name)</strong> asks to sign out <strong>\(user)</strong> here."
  }

  /// A form that sends the user's decision with the parameters of the logout request.
  private var form: HTML {
    let known = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"]
    let fields = parameters.filter { known.contains($0.name) }.map { parameter in
      SandboxPage.hidden(parameter.name, parameter.value)
    }
    return """
      <form method="post" action="\(SandboxEndpoint.endSession.path)">
      \(SandboxPage.hidden("form_token", formToken))
      \(HTML(fields))
      <div class="choices">
      <button class="quiet" name="decision" value="stay">Stay signed in</button>
      <button name="decision" value="sign-out">Sign out</button>
      </div>
      </form>
      """
  }

  static var signedOut: Answer {
    let page = SandboxPage.page(
      .success, "You are signed out", ["You can close this page."])
    return Answer(page.response(formTargets: []))
  }

  static var stayed: Answer {
    let page = SandboxPage.page(
      .neutral, "You are still signed in", ["You can close this page."])
    return Answer(page.response(formTargets: []))
  }
}
