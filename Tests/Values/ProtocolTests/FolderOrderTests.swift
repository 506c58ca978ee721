import Foundation
import SequencingOAuth
import Testing

@testable import TestSupport

/// The dependencies between the library's folders: each points down the table of the Design
/// article.
@Suite struct FolderOrderTests {
  private static let module = "Sources/SequencingOAuth"

  /// The types in the module's root folder that every folder may use.
  private static let values: Set = [
    "SQToken", "SQOAuthError", "ClientEnvironment", "Registry", "JWTAssertion",
  ]
  /// The folders that extend types of the root folder, and so are above it.
  private static let above: Set = [
    "PodNames", "HeimdallNames", "Operations", "Signals", "Resources", "Callbacks",
  ]

  /// Returns the folders of the article's table, from top to bottom.
  private func table() throws -> [String] {
    let text = try PackageSources.text(of: "\(Self.module)/SequencingOAuth.docc/Design.md")
    let rest = try #require(text.split(separator: "| room |").dropFirst().first)
    let table = try #require(rest.split(separator: "\n\n").first)
    return table.matches(of: /\n\| `([A-Za-z\/]+)` \|/).map {
      String($0.output.1)
    }
  }

  /// Returns each folder's code without comments and string literals.
  ///
  /// The root folder has the name "".
  private func code() throws -> [String: String] {
    var code: [String: String] = [:]
    for path in try PackageSources.paths(in: Self.module) where path.hasSuffix(".swift") {
      let text = try PackageSources.text(of: path)
      let room = path.split(separator: "/").dropFirst(2).dropLast().joined(separator: "/")
      code[room, default: ""] +=
        text.replacing(/\/\/.*/, with: "")
        .replacing(/"(?:\\.|[^"\\\n])*"/, with: "\"\"") + "\n"
    }
    return code
  }

  /// Returns the folder that declares each type.
  ///
  /// A name that two folders declare is left out.
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

  @Test func `a source folder uses only folders below it in the Design article's table`() throws {
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
