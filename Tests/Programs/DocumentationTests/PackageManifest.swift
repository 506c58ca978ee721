import Foundation
import ProgramSupport
import TestSupport

/// The products and targets that `Package.swift` declares.
struct PackageManifest: Decodable {
  struct Product: Decodable {
    let name: String
    let targets: [String]
    /// A dictionary whose only key is the kind of product.
    let type: [String: [String]?]
  }

  struct Target: Decodable {
    let name: String
    /// The name of each dependency, under its kind, such as `byName`.
    let dependencies: [[String: [String?]]]
    let settings: [Setting]
  }

  struct Setting: Decodable {
    /// A dictionary whose only key is the kind of setting, such as `unsafeFlags`.
    let kind: [String: Value]

    /// Any value; the tests read the keys only.
    struct Value: Decodable {
      init(from decoder: any Decoder) {}
    }
  }

  let products: [Product]
  let targets: [Target]

  /// Reads the manifest with SwiftPM.
  static func read(environment: [String: String?] = [:]) async throws -> Self {
    let result = try await ChildProcess.run(
      ["swift", "package", "--package-path", PackageSources.root.path, "dump-package"],
      environment: environment, within: .seconds(240))
    guard result.status == 0 else {
      throw Unreadable(
        message: "swift package dump-package fails: \(result.output)\(result.errors)")
    }
    return try JSONDecoder().decode(Self.self, from: Data(result.output.utf8))
  }

  /// The names of the libraries, which are also the names of their modules.
  var libraries: [String] { products.filter { $0.type.keys.contains("library") }.map(\.name) }

  /// The targets of all products, with everything that they depend on.
  var targetsOfProducts: Set<String> {
    var open = products.flatMap(\.targets)
    var found = Set(open)
    while let name = open.popLast() {
      for target in targets where target.name == name {
        let dependencies = target.dependencies.flatMap { $0.values.compactMap { $0.first ?? nil } }
        open += dependencies.filter { found.insert($0).inserted }
      }
    }
    return found
  }

  /// The names of the targets whose settings SwiftPM rejects in a dependency that is named by its
  /// version.
  var targetsWithUnsafeFlags: Set<String> {
    Set(targets.filter { $0.settings.contains { $0.kind["unsafeFlags"] != nil } }.map(\.name))
  }

  private struct Unreadable: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}
