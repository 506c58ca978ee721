import Foundation

/// A request of a browser.
struct Request: Sendable {
  let method: String
  /// The path with the query, as it came.
  let target: String
  let cookies: [String: String]
  /// The names of the cookies, those first that the browser has had longest.
  let cookieNames: [String]
  let body: Data

  var path: String { String(target.prefix { $0 != "?" }) }

  /// The fields of a form in the body.
  var form: [String: String] {
    let text = String(decoding: body, as: UTF8.self).replacing("+", with: " ")
    let fields = URLComponents(string: "?\(text)")?.queryItems ?? []
    return Dictionary(fields.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }

  /// Reads the head of a request; `nil` if it makes no sense.
  init?(head: String, body: Data) {
    let lines = head.split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[1].hasPrefix("/") else { return nil }
    (method, target) = (String(words[0]), String(words[1]))
    let pairs = Self.field("cookie", lines).split(separator: ";").map { pair in
      pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    cookieNames = pairs.filter { $0.count == 2 }.map { $0[0] }
    cookies = Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first
    }
    self.body = body
  }

  /// How many bytes follow a head.
  static func bodyLength(head: String) -> Int {
    Int(field("content-length", head.split(separator: "\r\n"))) ?? 0
  }

  private static func field(_ name: String, _ lines: [Substring]) -> String {
    let line = lines.first { $0.lowercased().hasPrefix("\(name):") } ?? ""
    return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
  }
}
