import Foundation
import ProgramSupport

@testable import TestSupport

/// The types of a module in this build, including private ones, as the compiler recorded them.
struct ModuleTypes {
  /// A stored property of a type, or the associated values of an enum case.
  struct StoredValue: CustomStringConvertible {
    let type: String
    let declaration: String
    /// The property's name, or the case's name and labels.
    let names: Set<String>
    let typeNames: Set<String>

    var description: String { "\(type): \(declaration)" }
  }

  private let storedValues: [StoredValue]
  /// The types that conform to `Redacted`.
  private let redacted: Set<String>

  /// The stored values that may be secret and whose types would print them.
  var bareSecrets: Set<String> {
    let bare = storedValues.filter { !redacted.contains($0.type) && SecretNames.mayBeSecret($0) }
    return Set(bare.map(\.description))
  }

  init(of module: String, in folder: String) async throws {
    self.init(try await SymbolGraph.extract(from: module, .private, in: folder))
  }

  private init(_ graph: SymbolGraph) {
    let symbols = Dictionary(
      graph.symbols.map { ($0.identifier.precise, $0) }, uniquingKeysWith: { first, _ in first })
    func name(of symbol: String) -> String? {
      symbols[symbol]?.pathComponents.joined(separator: ".")
    }
    let owners = Dictionary(
      graph.relationships.filter { $0.kind == "memberOf" }.map { ($0.source, $0.target) },
      uniquingKeysWith: { first, _ in first })
    storedValues = graph.symbols.filter(\.isStored).compactMap { symbol in
      let owner = owners[symbol.identifier.precise].flatMap(name)
      return owner.map {
        StoredValue(
          type: $0, declaration: symbol.declaration, names: symbol.names,
          typeNames: symbol.spellings(of: "typeIdentifier"))
      }
    }
    redacted = Set(
      graph.relationships
        .filter { $0.kind == "conformsTo" && $0.targetFallback == "SQBasics.Redacted" }
        .compactMap { name(of: $0.source) })
  }
}
