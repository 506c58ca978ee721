import SQBasics
package import SQLoopback

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The reason why a sandbox did not start, or why a visitor was not sent back to the app.
///
/// Neither the error nor any text made from it contains a code or a state.
public enum SandboxError: Error, Sendable, Hashable {
  /// Another program uses the port.
  case portInUse(UInt16)
  /// The system refused the loopback address or something else; the value is its `errno`.
  case system(Int32)
  /// The visitor was sent to a server that is not on a loopback address, given as scheme and host.
  ///
  /// A redirect to the app's own `https` address is no such error: it ends the visit.
  case notLoopback(String)
  /// The visitor did not understand the answer of a server.
  case unexpectedAnswer(String)
  /// The visit ended on a page, and the visitor was not sent back to the app.
  ///
  /// Possible causes are a wrong user name or password, an unknown client, a redirect URI that is
  /// not registered, and a failure of the server. `heading` is the page's heading, or the status of
  /// an answer without one; `detail` is the page's alert or else its first paragraph.
  case endedOnPage(heading: String, detail: String?)
}

extension SandboxError: CustomStringConvertible, LocalizedError {
  /// A sentence for a developer that says what happened.
  public var description: String {
    switch self {
    case .portInUse(let port): "another program listens on port \(port)"
    case .system(let code):
      "the loopback address could not be used: \(CLibrary.meaning(of: code))"
    case .notLoopback(let address):
      // The query is left out, since it may contain a code.
      "a redirect leads to \(address.prefix { $0 != "?" }), which is not on this computer"
    case .unexpectedAnswer(let text): text
    case .endedOnPage(let heading, let detail):
      "the sign-in ended on the page \"\(heading)\"" + (detail.map { ": \($0)" } ?? "")
    }
  }

  /// The sentence of ``description``, which `localizedDescription` returns.
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
    case .addressUnavailable: self = .system(0)
    case .malformedAnswer:
      self = .unexpectedAnswer("a connection ended before the server's answer was whole")
    case .system(let code): self = .system(code)
    }
  }

  /// The error for a visit that ended on a page, with the page's words but without secrets.
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
