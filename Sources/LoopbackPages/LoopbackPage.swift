package import Basics
package import LoopbackHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A page of ours in a browser: one card with a mark, a heading, what it means and what to do.
///
/// The redirect's landing page and the sandbox's pages share it. It has no script and loads
/// nothing; it follows the browser's light or dark scheme and fits any width from 320 pixels on.
package struct LoopbackPage: Sendable {
  /// The sign above the heading.
  package enum Mark: Sendable, Hashable {
    case success
    case failure
    /// Neither well nor ill: nothing to find here, or something is under way.
    case neutral
    /// Somebody is asked to prove who they are.
    case key
    /// A person, shown by the first letter of a name.
    case person(String)
  }

  /// Whose page it is.
  package enum Brand: Sendable, Hashable {
    /// A program of ours, with our sign.
    case ours(String)
    /// An app, with the first letter of its name.
    case app(String)
  }

  package var title: String
  package var mark: Mark
  package var heading: String
  package var paragraphs: [HTML]
  /// What stands below the paragraphs, such as a form.
  package var content: HTML
  /// A line above the card that says whose page this is.
  package var brand: Brand?
  /// Colours in place of ours.
  package var theme: PageTheme?
  /// A quiet line below the card.
  package var footnote: HTML?

  package init(
    title: String? = nil, mark: Mark, heading: String, paragraphs: [HTML] = [],
    content: HTML = .empty, brand: Brand? = nil, footnote: HTML? = nil, theme: PageTheme? = nil
  ) {
    self.title = title ?? heading
    self.mark = mark
    self.heading = heading
    self.paragraphs = paragraphs
    self.content = content
    self.brand = brand
    self.footnote = footnote
    self.theme = theme
  }

  /// The page as a response that no cache keeps, no frame shows and that reaches no other site.
  ///
  /// `formTargets` are the CSP sources that a form of the page may lead to, by redirects too; `nil`
  /// leaves them open, since CSP has no way to write an IPv6 address.
  package func response(
    status: Int = 200, headers: [(name: String, value: String)] = [],
    formTargets: [String]? = [], closesConnection: Bool = false
  ) -> LoopbackResponse {
    let nonce = Self.nonce()
    var policy = [
      "default-src 'none'", "style-src 'nonce-\(nonce)'", "img-src data:", "base-uri 'none'",
      "frame-ancestors 'none'",
    ]
    if let formTargets {
      let targets = formTargets.isEmpty ? "'none'" : formTargets.joined(separator: " ")
      policy.append("form-action \(targets)")
    }
    return LoopbackResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Content-Security-Policy", policy.joined(separator: "; ")),
      ] + headers,
      body: Data(document(nonce: nonce).markup.utf8), closesConnection: closesConnection)
  }

  private func document(nonce: String) -> HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>\(title)</title>
    <link rel="icon" href="\(theme?.icon ?? Self.icon)">
    <style nonce="\(nonce)">\(Self.style)\(theme?.rules ?? .empty)</style>
    </head>
    <body>
    <main>
    \(brandLine)
    <section class="card">
    \(mark.markup)
    <h1>\(heading)</h1>
    \(HTML(paragraphs.map { "<p>\($0)</p>" }))
    \(content)
    </section>
    \(footer)
    </main>
    </body>
    </html>

    """
  }

  private var brandLine: HTML {
    switch brand {
    case .ours(let name): "<p class=\"brand\">\(Self.helix)<span>\(name)</span></p>"
    case .app(let name):
      """
      <p class="brand"><span class="tile" aria-hidden="true">\(name.prefix(1).uppercased())</span>\
      <span dir="auto">\(name)</span></p>
      """
    case nil: .empty
    }
  }

  private var footer: HTML {
    footnote.map { "<footer>\($0)</footer>" } ?? .empty
  }

  /// What allows the page's own style and nothing that someone slipped in: 128 random bits.
  private static func nonce() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
