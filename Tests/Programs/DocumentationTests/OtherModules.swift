import Foundation
import ProgramSupport
import TestSupport

/// The modules of other packages that samples import, with the few declarations that they use.
///
/// No package is fetched. `Tests/OtherModules` has a text for each module, whose declarations are
/// those of the version in its first line. So the compiler checks our half of such a sample.
struct OtherModules: Sendable {
  static let folder = PackageSources.root.appending(path: "Tests/OtherModules")

  private let products: TemporaryFolder
  /// The compiler's option with which a sample finds the modules.
  var options: [String] { ["-I", products.file("")] }

  /// The names of the modules; each comes after the modules that it imports.
  static func names() throws -> [String] {
    var rest = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()[...]
    var names: [String] = []
    var postponed = 0
    while let name = rest.popFirst() {
      let missing = try imports(of: name).contains { rest.contains($0) }
      // As many modules were postponed as there are, so they import each other.
      guard missing, postponed <= rest.count else {
        names.append(name)
        postponed = 0
        continue
      }
      rest.append(name)
      postponed += 1
    }
    return names
  }

  /// The text of a module.
  static func text(of name: String) throws -> String {
    try String(contentsOf: folder.appending(path: "\(name).txt"), encoding: .utf8)
  }

  private static func imports(of name: String) throws -> [String] {
    try text(of: name).matches(of: #/import (?:struct |enum )?(\w+)/#).map { String($0.1) }
  }

  /// Compiles the modules, which takes a few seconds.
  init() async throws {
    products = try TemporaryFolder()
    for name in try Self.names() {
      let file = products.file("\(name).swift")
      try Data(try Self.text(of: name).utf8).write(to: URL(filePath: file))
      let result = try await ChildProcess.run(
        [
          "swiftc", "-emit-module", "-parse-as-library", "-module-name", name, "-swift-version",
          "6", "-suppress-warnings", "-o", products.file("\(name).swiftmodule"), "-I",
          products.file(""), file,
        ] + PackageSources.moduleCache, within: .seconds(240))
      guard result.status == 0 else {
        throw NotCompiled(message: "\(name): \(result.output)\(result.errors)")
      }
    }
  }

  private struct NotCompiled: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}
