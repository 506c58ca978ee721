import Basics
import LoopbackHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a sandbox did not start, or why a visitor was not sent back to the app.
///
/// Neither the error nor any text made from it holds a code or a state.
public enum SandboxError: Error, Sendable, Hashable {
  /// Another program listens on the port.
  case portInUse(UInt16)
  /// The loopback address, or another thing of the system, is not available; with its `errno`.
  case system(Int32)
  /// The visitor was sent to a server that is not on a loopback address, with its scheme and host.
  ///
  /// A redirect to the app's own `https` address is no such case: the visit ends with it.
  case notLoopback(String)
  /// The visitor did not understand what a server answered.
  case unexpectedAnswer(String)
  /// The visit ended on a page, and the visitor was not sent back to the app.
  ///
  /// The user or the password is wrong, the client is unknown, its redirect URI is not registered,
  /// or the server failed. The heading is the page's own, or the status of an answer that has none;
  /// the detail is the page's alert or else its first paragraph.
  case endedOnPage(heading: String, detail: String?)
}

extension SandboxError: CustomStringConvertible, LocalizedError {
  /// What happened, in a sentence for a developer.
  public var description: String {
    switch self {
    case .portInUse(let port): "another program listens on port \(port)"
    case .system(let code):
      "the loopback address could not be used: \(CLibrary.meaning(of: code))"
    case .notLoopback(let address):
      // A query may hold a code.
      "the way leads to \(address.prefix { $0 != "?" }), which is not on this computer"
    case .unexpectedAnswer(let text): text
    case .endedOnPage(let heading, let detail):
      "the sign-in ended on the page \"\(heading)\"" + (detail.map { ": \($0)" } ?? "")
    }
  }

  /// The sentence of ``description``.
  public var errorDescription: String? { description }
}

extension SandboxError: SignInPageError {
  package var isEndOnPage: Bool {
    if case .endedOnPage = self { true } else { false }
  }
}

extension SandboxError {
  init(_ error: LoopbackError) {
    switch error {
    case .portInUse(let port): self = .portInUse(port)
    case .addressUnavailable: self = .system(0)
    case .system(let code): self = .system(code)
    }
  }

  /// The end of a visit on a page, in the page's words but without what was secret on the way.
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
