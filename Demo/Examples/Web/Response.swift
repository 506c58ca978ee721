import Foundation
import SequencingOAuth
import SequencingOAuthBackend

/// An answer to a browser.
struct Response: Sendable {
  var status: Int
  var fields: [(name: String, value: String)] = []
  var body = ""

  init(status: Int) {
    self.status = status
  }

  /// Creates the answer to a provider that has sent a logout token.
  init(_ answer: LogoutTokenResponse) {
    status = answer.status
    fields = answer.fields.map { ($0.name, $0.value) }
  }

  static func redirect(to place: String) -> Response {
    var response = Response(status: 303)
    response.fields.append(("Location", place))
    return response
  }

  /// Sets a cookie for a time or, if `time` is `nil`, until the browser ends.
  mutating func set(_ name: String, to value: String, for time: Duration? = nil, _ all: Cookies) {
    let age = time.map { "; Max-Age=\($0.components.seconds)" } ?? ""
    fields.append(("Set-Cookie", "\(name)=\(value)\(age)\(all.attributes)"))
  }

  mutating func remove(_ name: String, _ all: Cookies) {
    set(name, to: "", for: .zero, all)
  }

  static func page(
    _ status: Int, _ heading: String, _ text: String, link: (path: String, text: String)? = nil,
    form: (path: String, text: String)? = nil
  ) -> Response {
    var response = Response(status: status)
    response.fields = [
      ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
          + "frame-ancestors 'none'"
      ),
    ]
    let link = link.map { "<p><a href=\"\($0.path)\">\($0.text)</a></p>" } ?? ""
    let form =
      form.map {
        "<form method=\"post\" action=\"\($0.path)\"><button>\($0.text)</button></form>"
      } ?? ""
    response.body = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>\(escaped(heading))</title>
      <style>
        :root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif }
        body { background: light-dark(#fff, #17191e); color: light-dark(#1c1f24, #eceef2) }
        main { max-width: 26rem; margin: 18vh auto 0; padding: 0 1.5rem }
        h1 { font-size: 1.8rem; line-height: 1.2 }
        a, button { display: inline-block; padding: .5rem 1.4rem; border: 0; border-radius: .5rem;
          background: #1a56c4; color: #fff; font: inherit; text-decoration: none; cursor: pointer }
      </style>
      <main><h1>\(escaped(heading))</h1><p>\(escaped(text))</p>\(link)\(form)</main>
      </html>
      """
    return response
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    // By scalars, because a "<" and a mark beside it form one Character.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The bytes of the answer, after which the connection ends.
  var bytes: Data {
    let all = fields + [("Content-Length", "\(body.utf8.count)"), ("Connection", "close")]
    let head = all.map { "\($0.name): \($0.value)\r\n" }.joined()
    return Data("HTTP/1.1 \(status) Status\r\n\(head)\r\n\(body)".utf8)
  }
}
