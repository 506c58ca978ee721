import Foundation
import ProgramSupport

@testable import TestSupport

/// A module's symbols, as the toolchain's `swift-symbolgraph-extract` reports them.
struct SymbolGraph: Decodable {
  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    /// The name of the target if it is in another module.
    let targetFallback: String?
  }

  struct Symbol: Decodable {
    struct Kind: Decodable { let identifier: String }
    struct Identifier: Decodable { let precise: String }
    struct Fragment: Decodable {
      let kind: String
      let spelling: String
    }
    struct Location: Decodable {
      struct Position: Decodable { let line: Int }
      let uri: URL
      let position: Position
    }

    let kind: Kind
    let identifier: Identifier
    let pathComponents: [String]
    let declarationFragments: [Fragment]
    let location: Location?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]

  /// Returns the Swift modules of a user's program and of the demo.
  static func modules() throws -> [String] {
    let sources = PackageSources.root.appending(path: "Sources").path
    let folders = try FileManager.default.contentsOfDirectory(atPath: sources)
    return Set(folders).subtracting(try PackageSources.moduleMaps().keys).sorted() + ["sq_demo"]
  }

  /// Reads a module of this build.
  ///
  /// The tool writes its files to `folder`.
  static func extract(from module: String, in folder: String) async throws -> Self {
    let result = try await ChildProcess.run(
      [
        "swift-symbolgraph-extract", "-module-name", module, "-minimum-access-level", "private",
        "-skip-synthesized-members", "-output-dir", folder,
        "-I", Bundle.main.bundleURL.appending(path: "Modules").path,
      ] + PackageSources.moduleCache
        + PackageSources.options(for: try PackageSources.moduleMaps().values),
      within: .seconds(240))
    guard result.status == 0 else { throw Unreadable(message: result.output + result.errors) }
    let graph = try Data(contentsOf: URL(filePath: "\(folder)/\(module).symbols.json"))
    return try JSONDecoder().decode(Self.self, from: graph)
  }

  private struct Unreadable: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}

extension SymbolGraph.Symbol {
  var declaration: String { declarationFragments.map(\.spelling).joined() }

  /// The name of a property, or the name and the labels of an enum case.
  var names: Set<String> { spellings(of: "identifier").union(spellings(of: "externalParam")) }

  func spellings(of kind: String) -> Set<String> {
    Set(declarationFragments.filter { $0.kind == kind }.map(\.spelling))
  }

  /// Whether a value of the type stores this symbol.
  var isStored: Bool {
    switch kind.identifier {
    case "swift.enum.case": true
    case "swift.property": !declaration.contains("{") || isStoredWithoutSetter
    default: false
    }
  }

  /// Whether a property with `{ get }` only hides its setter, as `private(set)` does.
  ///
  /// The compiler's record does not say this. The source line does, because it has no body.
  private var isStoredWithoutSetter: Bool {
    guard declaration.contains("{ get }"), let location,
      let source = try? String(contentsOf: location.uri, encoding: .utf8)
    else { return false }
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let number = location.position.line
    return lines.indices.contains(number) && !lines[number].contains("{")
  }
}
