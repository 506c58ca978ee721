import SQBasics
import SQLoopback
import SQLoopbackPages

/// The common parts of the sandbox's pages.
enum SandboxPage {
  /// Creates a page with a warning not to use a real password.
  ///
  /// `news` is the start of the page's title, such as "Wrong password". A screen reader reads the
  /// title first, so the user learns at once why a form is shown again.
  static func page(
    _ mark: LoopbackPage.Mark, _ heading: String, _ paragraphs: [HTML], _ content: HTML = .empty,
    news: String? = nil, hint: HTML = .empty
  ) -> LoopbackPage {
    let title = [news, heading, "OAuth Sandbox"].compactMap(\.self).joined(separator: " · ")
    return LoopbackPage(
      title: title, mark: mark, heading: heading, paragraphs: paragraphs, content: content,
      brand: .ours("OAuth Sandbox"),
      footnote: """
        \(hint)
        <p>A sandbox on this computer, for demos and tests. Enter no real password here.</p>
        """)
  }

  /// Returns a sentence that says how many minutes the user has left for the sign-in.
  ///
  /// - SeeAlso: WCAG 2.2, success criterion 2.2.1
  static func time(_ pending: BrowserSessions.Pending, _ sandbox: SandboxState) -> HTML {
    let minutes = pending.minutesLeft(at: sandbox.now)
    return """
      <p>You have \(minutes) \(minutes == 1 ? "minute" : "minutes") to sign in. \
      The app may wait for less.</p>
      """
  }

  /// Returns the hidden fields that bind a form to its sign-in and to this browser.
  static func hiddenFields(request: String, formToken: String) -> HTML {
    HTML([hidden("request", request), hidden("form_token", formToken)])
  }

  /// Returns a field that the form sends and does not show.
  static func hidden(_ name: String, _ value: String) -> HTML {
    "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">\n"
  }

  /// Returns the error line above a rejected form.
  ///
  /// The form's field refers to the line by its ID, `problem`.
  static func alert(_ text: String) -> HTML {
    """
    <div class="alert" role="alert" id="problem">\
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" \
    stroke="currentColor" stroke-width="2" stroke-linecap="round">\
    <circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5M12 16.4v.1"/></svg>\
    <span>\(text)</span></div>
    """
  }

  /// Returns a form's label with its field, on lines of their own even without the style sheet.
  static func field(_ label: String, for id: HTML, note: HTML = .empty, _ input: HTML) -> HTML {
    """
    <div class="field">
    <label for="\(id)">\(label)</label>
    \(note)
    \(input)
    </div>
    """
  }
}
