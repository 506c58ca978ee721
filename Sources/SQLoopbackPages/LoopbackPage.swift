package import SQBasics
import SQFoundation
package import SQLoopback

/// An HTML page that shows one card: a mark, a heading, an explanation and what to do next.
///
/// The page that the browser shows after the redirect and the sandbox's pages are of this type. A
/// page loads nothing, and has no script unless ``script`` is set. It follows the browser's light
/// or dark scheme and fits any width from 320 pixels.
package struct LoopbackPage: Sendable {
  /// The sign above the heading.
  package enum Mark: Sendable, Hashable {
    case success
    case failure
    /// Neither success nor failure, such as an empty page or work in progress.
    case neutral
    /// A key, for a page that asks the user to log in.
    case key
    /// A person, shown by the first letter of a name.
    case person(String)
  }

  /// The program that the page belongs to.
  package enum Brand: Sendable, Hashable {
    /// A program of this project, shown with the SDK's logo.
    case ours(String)
    /// An app, shown with the first letter of its name.
    case app(String)
  }

  package var title: String
  package var mark: Mark
  package var heading: String
  package var paragraphs: [HTML]
  /// The part below the paragraphs, such as a form.
  package var content: HTML
  /// The program that the line above the card names.
  package var brand: Brand?
  /// An app's colours, which replace the default colours.
  package var theme: PageTheme?
  /// A small line below the card.
  package var footnote: HTML?
  /// A script that runs when the page loads; the page must work without it.
  package var script: HTML?

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

  /// Returns a response with the page, which must not be cached or framed and loads nothing else.
  ///
  /// `formTargets` are the CSP sources that a form of the page may lead to, directly or through
  /// redirects. `nil` sets no limit, for targets such as an IPv6 address, which CSP cannot express.
  package func response(
    status: Int = 200, headers: [(name: String, value: String)] = [],
    formTargets: [String]? = [], closesConnection: Bool = false
  ) -> LoopbackResponse {
    let nonce = Self.nonce()
    var policy = [
      "default-src 'none'", "style-src 'nonce-\(nonce)'", "img-src data:", "base-uri 'none'",
      "frame-ancestors 'none'",
    ]
    if script != nil { policy.append("script-src 'nonce-\(nonce)'") }
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
    \(script.map { "<script nonce=\"\(nonce)\">\($0)</script>" } ?? .empty)
    </body>
    </html>

    """
  }

  private var brandLine: HTML {
    switch brand {
    case .ours(let name): "<p class=\"brand\">\(Self.helix)<span>\(name)</span></p>"
    case .app(let name):
      """
      <p class="brand"><span class="tile" aria-hidden="true" \
      data-letter="\(name.prefix(1).uppercased())"></span>\
      <span dir="auto">\(name)</span></p>
      """
    case nil: .empty
    }
  }

  private var footer: HTML {
    footnote.map { "<footer>\($0)</footer>" } ?? .empty
  }

  /// Returns 128 random bits as text, for a CSP that permits only the page's own style and script.
  private static func nonce() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
