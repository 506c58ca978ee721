import Foundation
import ProgramSupport
import TestSupport

/// The modules of other packages that samples import, with the few declarations that they use.
///
/// No package is fetched. `Tests/OtherModules` has a file for each module, with declarations of the
/// version that the first line names. So the compiler checks the SDK's part of these samples.
struct OtherModules: Sendable {
  static let folder = PackageSources.root.appending(path: "Tests/OtherModules")

  private let products: TemporaryFolder
  /// The compiler's options with which a sample finds the modules.
  var options: [String] { ["-I", products.file("")] }

  /// Returns the names of the modules; each comes after the modules that it imports.
  static func names() throws -> [String] {
    var rest = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()[...]
    var names: [String] = []
    var postponed = 0
    while let name = rest.popFirst() {
      let missing = try imports(of: name).contains { rest.contains($0) }
      // If every remaining module was postponed, the modules import each other.
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

  /// Returns the content of a module's file in ``folder``.
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
