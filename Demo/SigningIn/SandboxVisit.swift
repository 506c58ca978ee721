import OAuthSandbox
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Visits to a sandbox, here or in another process, by a user who is played.
extension EmbeddedSandbox {
  /// Plays the user without a browser.
  ///
  /// It calls a redirect on a loopback address itself; `pass` gets any other. A visit that ends on a
  /// page of the sandbox fails with what that page says.
  static func visitor(pass: @escaping @Sendable (String) -> Void = { _ in }) -> any UserAgent {
    CustomUserAgent { url in
      let visit: SandboxVisitor.Visit
      do {
        visit = try await SandboxVisitor().visit(url)
      } catch {
        try Task.checkCancellation()
        throw SQOAuthError(
          .signInRefused, "the sandbox's visitor got no further: \("\(error)".printable)")
      }
      try Task.checkCancellation()
      guard let redirect = visit.redirect else { throw SQOAuthError(endOf: visit) }
      if !redirect.hasPrefix("http:") { pass(redirect) }
    }
  }

  /// Whether the visitor may type the sandbox's password at an address: on this machine only.
  static func canBeVisited(_ address: String) -> Bool {
    guard let url = URL(string: address), url.scheme == "http", let host = url.host() else {
      return false
    }
    return ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host.lowercased())
  }
}

extension SQOAuthError.Code {
  /// The server has shown a page instead of sending the user back to the program.
  fileprivate static let signInRefused = SQOAuthError.Code(rawValue: "sign_in_refused")
}

extension SQOAuthError {
  /// What the page says on which a visit has ended.
  fileprivate init(endOf visit: SandboxVisitor.Visit) {
    guard let page = visit.pages.last else {
      self.init(.signInRefused, "the server has shown no page")
      return
    }
    // A password that is refused leads to the login page again, which says so in an alert.
    let alert = page.texts(of: "div", marked: "role=\"alert\"").first
    guard let reason = alert ?? page.texts(of: "h1").first else {
      self.init(
        .signInRefused, "the server has shown a page with status \(page.status) and no heading",
        status: page.status)
      return
    }
    let facts = zip(page.texts(of: "dt"), page.texts(of: "dd")).map { "\($0) \($1)" }
    self.init(
      .signInRefused,
      "the server's page says: \(reason)"
        + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"), status: page.status)
  }
}

extension SandboxVisitor.Page {
  /// The most of a text that goes into an error.
  private static let longest = 200

  /// The texts of the elements of a kind, perhaps of those with a certain attribute.
  fileprivate func texts(of element: String, marked attribute: String = "") -> [String] {
    var texts: [String] = []
    var rest = body[...]
    while let start = rest.firstRange(of: "<\(element)") {
      rest = rest[start.upperBound...]
      guard let end = rest.firstIndex(of: ">"), let close = rest.firstRange(of: "</\(element)>"),
        end < close.lowerBound
      else { break }
      if attribute.isEmpty || rest[..<end].contains(attribute) {
        texts.append(
          String(Self.plain(rest[end..<close.lowerBound].dropFirst()).prefix(Self.longest)))
      }
      rest = rest[close.upperBound...]
    }
    return texts
  }

  /// Markup without its tags, its entities resolved.
  private static func plain(_ markup: Substring) -> String {
    var text = ""
    var isTag = false
    for character in markup {
      switch character {
      case "<": isTag = true
      case ">": isTag = false
      default: if !isTag { text.append(character) }
      }
    }
    for (entity, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
    ] {
      text = text.replacing(entity, with: character)
    }
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ").printable
  }
}
