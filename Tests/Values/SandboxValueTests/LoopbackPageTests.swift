import FoundationEssentials
import SQBasics
import SQLoopback
import SQLoopbackPages
import Testing

@Suite struct LoopbackPageTests {
  @Test func `interpolated text is escaped`() {
    let text = "<script>\"'&\u{0}</script>"
    let html: HTML = "<p title=\"\(text)\">\(text)\(7)</p>"
    let escaped = "&lt;script&gt;&quot;&#39;&amp;\u{FFFD}&lt;/script&gt;"
    #expect(html.markup == "<p title=\"\(escaped)\">\(escaped)7</p>")
    #expect(("\(html)\(HTML.empty)" as HTML).markup == html.markup)
  }

  @Test(arguments: [LoopbackPage.Brand.ours, LoopbackPage.Brand.app])
  func `a page cannot run scripts, load anything or be framed`(
    brand: @Sendable (String) -> LoopbackPage.Brand
  ) throws {
    let attack = "\"><script>alert(1)</script>"
    let page = LoopbackPage(
      title: attack, mark: .person(attack), heading: attack, paragraphs: ["\(attack)"],
      brand: brand(attack), footnote: "\(attack)", theme: PageTheme(accent: PageTint(1, 2, 3)))
    let response = page.response(formTargets: [])
    let body = String(decoding: response.body, as: UTF8.self)
    #expect(!body.contains("<script") && body.contains("&lt;script&gt;"))
    let headers = Dictionary(uniqueKeysWithValues: response.headers.map { ($0.name, $0.value) })
    let policy = try #require(headers["Content-Security-Policy"])
    #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-"))
    #expect(policy.hasSuffix("base-uri 'none'; frame-ancestors 'none'; form-action 'none'"))
    #expect(headers["Cache-Control"] == "no-store")
    #expect(headers["Referrer-Policy"] == "no-referrer")
    #expect(headers["X-Frame-Options"] == "DENY")
    #expect(headers["X-Content-Type-Options"] == "nosniff")
  }

  @Test func `a nonce that is new in every response allows the style`() throws {
    let page = LoopbackPage(mark: .success, heading: "Done")
    let nonces = try (0..<2).map { _ in
      let response = page.response()
      let policy = try #require(response.headers.last { $0.name == "Content-Security-Policy" })
      let nonce = try #require(policy.value.split(separator: "'").first { $0.hasPrefix("nonce-") })
      let body = String(decoding: response.body, as: UTF8.self)
      #expect(body.contains("<style nonce=\"\(nonce.dropFirst(6))\">"))
      #expect(nonce.count == 38)
      return nonce
    }
    #expect(nonces[0] != nonces[1])
  }
}
