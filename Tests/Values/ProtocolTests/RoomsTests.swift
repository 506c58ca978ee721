import Foundation
import Testing

@testable import TestSupport

/// The arrows between the folders of the library point one way: down the table of the Design
/// article.
@Suite struct RoomsTests {
  private static let module = PackageSources.root.appending(path: "Sources/SequencingOAuth")

  /// What of the module's root every room may use.
  private static let values: Set = [
    "SQToken", "SQOAuthError", "ClientEnvironment", "Registry", "JWTAssertion",
  ]
  /// The rooms that extend the types of the root, and so stand above it.
  private static let above: Set = [
    "PodNames", "Signals", "Keeping", "Pipes", "Resources", "Callbacks",
  ]

  /// The rooms of the article's table, from top to bottom.
  private func table() throws -> [String] {
    let article = Self.module.appending(path: "SequencingOAuth.docc/Design.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let rest = try #require(text.split(separator: "| room |").dropFirst().first)
    let table = try #require(rest.split(separator: "\n\n").first)
    return table.matches(of: /\n\| `([A-Za-z\/]+)` \|/).map {
      String($0.output.1)
    }
  }

  /// Each room's code without comments and texts; the root is "".
  private func code() throws -> [String: String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.module.path)
    var code: [String: String] = [:]
    for path in paths where path.hasSuffix(".swift") {
      let text = try String(contentsOf: Self.module.appending(path: path), encoding: .utf8)
      let room = path.split(separator: "/").dropLast().joined(separator: "/")
      code[room, default: ""] +=
        text.replacing(/\/\/.*/, with: "")
        .replacing(/"(?:\\.|[^"\\\n])*"/, with: "\"\"") + "\n"
    }
    return code
  }

  /// The room of each type that a room declares for the others; a name that two rooms declare is
  /// none.
  private func declarations(_ code: [String: String]) -> [String: String] {
    let pattern = /^(?:[@\w]+(?:\(.*?\))? )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/
    var rooms: [String: Set<String>] = [:]
    for (room, text) in code {
      for match in text.matches(of: pattern.anchorsMatchLineEndings()) {
        rooms[String(match.output.1), default: []].insert(room)
      }
    }
    return rooms.compactMapValues { $0.count == 1 ? $0.first : nil }
  }

  @Test func `a room uses only rooms below it`() throws {
    let (code, table) = (try code(), try table())
    let rooms = declarations(code)
    #expect(rooms.count > 200 && rooms["SessionState"] == "Session")
    #expect(
      Set(table).union([""]) == Set(code.keys), "every folder has a row in the article's table")
    for (room, text) in code where !room.isEmpty {
      for name in Set(text.matches(of: /\b[A-Z]\w+/).map { String($0.output) }).sorted() {
        guard let other = rooms[name], other != room else { continue }
        if other.isEmpty {
          let mayUse = Self.values.contains(name) || Self.above.contains(room)
          #expect(mayUse, "\(room) uses \(name), which stands above it")
        } else if let mine = table.firstIndex(of: room), let its = table.firstIndex(of: other) {
          #expect(mine < its, "\(room) uses \(name) of \(other), which stands above it")
        }
      }
    }
  }
}
