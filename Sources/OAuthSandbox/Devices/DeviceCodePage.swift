import SQBasics
import SQLoopbackPages

/// The page where a user enters the code that a device shows.
struct DeviceCodePage: Redacted {
  let formToken: String
  /// The code from the user's last attempt or from the page's address.
  let userCode: String
  /// The client whose code the address contains; `nil` if the user must type the code.
  let client: SandboxClient?
  var hasFailed = false

  var answer: Answer {
    let page = SandboxPage.page(
      .key, "Connect a device", [explanation], HTML([alert, form]), news: news)
    return Answer(page.response(status: hasFailed ? 403 : 200, formTargets: ["'self'"]))
  }

  private var news: String? {
    if hasFailed { return "Wrong code" }
    return client == nil ? nil : "Is the code the same?"
  }

  private var explanation: HTML {
    guard let client else { return "Enter the code that the device or the program shows you." }
    return """
      <strong>\(client.name)</strong> must show you this code now. If it does not, or if you did \
      not start it yourself, close this page.
      """
  }

  private var alert: HTML {
    guard hasFailed else { return .empty }
    return SandboxPage.alert("No device waits with this code. It may have expired.")
  }

  private var form: HTML {
    """
    <form method="post" action="\(SandboxEndpoint.device.path)">
    \(SandboxPage.hidden("form_token", formToken))
    \(field)
    <div class="act"><button name="decision" value="connect">\
    \(client == nil ? "Continue" : "The code is the same")</button></div>
    </form>
    """
  }

  private var field: HTML {
    guard client == nil else {
      return """
        <p class="code"><code>\(userCode)</code></p>
        \(SandboxPage.hidden("user_code", userCode))
        """
    }
    let invalid: HTML = hasFailed ? " aria-invalid=\"true\"" : ""
    let described: HTML = hasFailed ? "problem example" : "example"
    // Show an example of a code beside the field, because inside the field it would disappear when
    // the user types.
    return SandboxPage.field(
      "Code", for: "user_code",
      note: "<div class=\"note\" id=\"example\">Eight letters, such as WDJB-MJHT</div>",
      """
      <input id="user_code" name="user_code" value="\(userCode)" autocomplete="off" \
      autocapitalize="characters" autocorrect="off" spellcheck="false" \
      aria-describedby="\(described)" required autofocus\(invalid)>
      """)
  }

  // MARK: After the decision

  /// Returns the page after the user has allowed or denied the access.
  static func end(isAllowed: Bool) -> Answer {
    let page =
      isAllowed
      ? SandboxPage.page(
        .success, "Your device is connected",
        ["Go back to your device, which continues by itself. You can close this page."])
      : SandboxPage.page(
        .neutral, "Your device is not connected",
        ["It gets no access. You can close this page."])
    return Answer(page.response(formTargets: []))
  }
}
