import SQBasics
public import SQFoundation
import SQLibC
package import SQLoopback

/// The reason why a sandbox did not start, or why a ``SandboxVisitor`` did not get to the app.
///
/// Neither the error nor its text contains an authorization code or a `state`. A later version may
/// add cases, so write a `default` in a `switch`.
public enum SandboxError: Error, Sendable, Hashable {
  /// Another program uses the port.
  case portInUse(UInt16)
  /// A system call failed with this `errno`.
  case system(Int32)
  /// OpenSSL's configuration in this process disables an algorithm that the text names.
  case cryptographyUnavailable(String)
  /// A redirect leads to a server outside the loopback addresses, given as scheme and host.
  ///
  /// A redirect to the app's own `https` address is not an error: it ends the visit.
  case notLoopback(String)
  /// A server's answer was malformed or unexpected; the text says why.
  case unexpectedAnswer(String)
  /// The visit ended on a page instead of a redirect back to the app.
  ///
  /// Possible causes are a wrong user name or password, an unknown client, an unregistered redirect
  /// URI, and a failure of the server. `heading` is the page's heading or, if the page has none,
  /// the HTTP status. `detail` is the page's alert or, if the page has none, its first paragraph.
  case endedOnPage(heading: String, detail: String?)
}

extension SandboxError: CustomStringConvertible, LocalizedError {
  /// A description of the failure for a developer.
  public var description: String {
    switch self {
    case .portInUse(let port): "port \(port) is in use; choose another one"
    case .system(let code):
      "the loopback address could not be used: \(CLibrary.meaning(of: code))"
    case .notLoopback(let address):
      // Remove the query, because it may contain a code.
      "the visitor was sent to \(address.prefix { $0 != "?" }), which is not an http server on this "
        + "computer"
    case .unexpectedAnswer(let text), .cryptographyUnavailable(let text): text
    case .endedOnPage(let heading, let detail):
      "the sign-in ended on the page \"\(heading)\"" + (detail.map { ": \($0)" } ?? "")
    }
  }

  /// The text of ``description``, which `localizedDescription` returns.
  public var errorDescription: String? { description }
}

extension SandboxError: SignInPageError {
  package var isEndOnPage: Bool {
    if case .endedOnPage = self { true } else { false }
  }
}

extension SandboxError {
  package init(_ error: LoopbackError) {
    switch error {
    case .portInUse(let port): self = .portInUse(port)
    case .addressUnavailable: self = .system(EADDRNOTAVAIL)
    case .malformedAnswer:
      self = .unexpectedAnswer("a server's answer was malformed or incomplete")
    case .system(let code): self = .system(code)
    }
  }

  /// Creates the error for a visit that ended on a page, with the page's words but without secrets.
  static func ended(on page: SandboxVisitor.Page, after pages: [SandboxVisitor.Page]) -> Self {
    let text = PageText(page.body)
    let secrets = pages.flatMap { SandboxVisitor.secrets(in: $0.url) }
    func clean(_ text: String) -> String {
      secrets.reduce(text) { $0.replacing($1, with: "[removed]") }
    }
    return .endedOnPage(
      heading: clean(text.heading ?? "status \(page.status)"), detail: text.detail.map(clean))
  }
}
