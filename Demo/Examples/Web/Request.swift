import Foundation

/// A browser's request.
struct Request: Sendable {
  let method: String
  /// The path with the query, unchanged.
  let target: String
  let cookies: [String: String]
  /// The names of the cookies, oldest first.
  let cookieNames: [String]
  let body: Data

  var path: String { String(target.prefix { $0 != "?" }) }

  /// Parses the head of a request, and fails if it is malformed.
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

  /// Returns the number of bytes after a head.
  static func bodyLength(head: String) -> Int {
    Int(field("content-length", head.split(separator: "\r\n"))) ?? 0
  }

  private static func field(_ name: String, _ lines: [Substring]) -> String {
    let line = lines.first { $0.lowercased().hasPrefix("\(name):") } ?? ""
    return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
  }
}
