package import Foundation
import TestSupport

/// A module's symbols, as the toolchain's `swift-symbolgraph-extract` reports them.
package struct SymbolGraph: Decodable {
  package struct Relationship: Decodable {
    package let kind: String
    package let source: String
    package let target: String
    /// The name of the relationship's target if the target is in another module.
    package let targetFallback: String?
  }

  package struct Symbol: Decodable {
    package struct Kind: Decodable { package let identifier: String }
    package struct Identifier: Decodable { package let precise: String }
    package struct Fragment: Decodable {
      package let kind: String
      package let spelling: String
    }
    package struct Location: Decodable {
      package struct Position: Decodable { package let line: Int }
      package let uri: URL
      package let position: Position
    }

    package let kind: Kind
    package let identifier: Identifier
    package let pathComponents: [String]
    package let declarationFragments: [Fragment]
    package let location: Location?
  }

  package let symbols: [Symbol]
  package let relationships: [Relationship]

  /// Returns the Swift modules of the package's libraries and of the demo.
  package static func modules() throws -> [String] {
    let sources = PackageSources.root.appending(path: "Sources").path
    let folders = try FileManager.default.contentsOfDirectory(atPath: sources)
    return Set(folders).subtracting(try PackageSources.moduleMaps().keys).sorted() + ["sq_demo"]
  }

  /// The declarations to read.
  package enum Access: String, Sendable {
    case `public`
    /// Every declaration.
    case `private`
  }

  /// Reads a module of this build.
  ///
  /// The tool writes its files to `folder`.
  package static func extract(
    from module: String, _ access: Access, in folder: String
  ) async throws -> Self {
    let result = try await ChildProcess.run(
      [
        "swift-symbolgraph-extract", "-module-name", module, "-minimum-access-level",
        access.rawValue,
        "-skip-synthesized-members", "-output-dir", folder,
        "-I", Bundle.main.bundleURL.appending(path: "Modules").path,
      ] + PackageSources.moduleCache
        + PackageSources.options(for: try PackageSources.moduleMaps().values),
      within: .seconds(240))
    guard result.status == 0 else {
      throw Unreadable(
        message: "swift-symbolgraph-extract does not read \(module): "
          + result.output + result.errors)
    }
    let graph = try Data(contentsOf: URL(filePath: "\(folder)/\(module).symbols.json"))
    return try JSONDecoder().decode(Self.self, from: graph)
  }

  private struct Unreadable: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}

extension SymbolGraph.Symbol {
  package var declaration: String { declarationFragments.map(\.spelling).joined() }

  /// The name of a property, or the name and the labels of an enum case.
  package var names: Set<String> {
    spellings(of: "identifier").union(spellings(of: "externalParam"))
  }

  package func spellings(of kind: String) -> Set<String> {
    Set(declarationFragments.filter { $0.kind == kind }.map(\.spelling))
  }

  /// Whether a value of the type stores this symbol.
  package var isStored: Bool {
    switch kind.identifier {
    case "swift.enum.case": true
    case "swift.property": !declaration.contains("{") || isStoredWithoutSetter
    default: false
    }
  }

  /// Whether a property with `{ get }` only hides its setter, as `private(set)` does.
  ///
  /// The symbol graph does not say this. The source line does, because such a property has no body.
  private var isStoredWithoutSetter: Bool {
    guard declaration.contains("{ get }"), let location,
      let source = try? String(contentsOf: location.uri, encoding: .utf8)
    else { return false }
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let number = location.position.line
    return lines.indices.contains(number) && !lines[number].contains("{")
  }
}
