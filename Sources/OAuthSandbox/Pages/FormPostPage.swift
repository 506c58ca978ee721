import SQBasics
import SQLoopbackPages

/// The page that posts the authorization response to the app, by a script or, without scripts, by
/// its button.
///
/// - SeeAlso: OAuth 2.0 Form Post Response Mode, section 2
struct FormPostPage: Redacted {
  let target: String
  let parameters: [SandboxParameter]

  var answer: Answer {
    var page = SandboxPage.page(
      .success, "Back to the app", ["If nothing happens, press Continue."], form)
    page.script = "document.forms[0].submit()"
    return Answer(page.response(formTargets: RedirectURIs.formTarget(target).map { [$0] }))
  }

  private var form: HTML {
    let fields = parameters.map { parameter in
      SandboxPage.hidden(parameter.name, parameter.value)
    }
    return """
      <form method="post" action="\(target)">
      \(HTML(fields))
      <div class="act"><button>Continue</button></div>
      </form>
      """
  }
}
