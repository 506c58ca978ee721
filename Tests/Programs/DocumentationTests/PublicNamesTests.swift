import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Checks that an app can use each public name of the SDK without the name of its module.
///
/// This must also work in a file that imports other packages.
@Suite(
  .timeLimit(.minutes(10)),
  .disabled(if: isSanitized, "the names are the same without a sanitizer"))
struct PublicNamesTests {
  @Test func `no listed package declares a public name of the SDK's libraries`() async throws {
    let modules = try await Self.names()
    try #require(modules["OAuthSandbox"]?.contains("SandboxServer") == true)
    for repository in OtherPackage.repositories {
      let package = try OtherPackage(repository)
      for (module, names) in modules {
        let clashes = package.declarations(named: names)
        #expect(clashes.isEmpty, "rename \(clashes) in \(module): \(package.title) has them too")
      }
    }
  }

  @Test(arguments: [
    ("HTTPRequest", "apple/swift-http-types"), ("HTTPClient", "swift-server/async-http-client"),
    ("RPCError", "grpc/grpc-swift-2"), ("BearerAuthenticator", "vapor/vapor"),
    ("MultipartPart", "vapor/multipart-kit"), ("URLSession", "swiftlang/swift-foundation"),
  ])
  func `a public name of another package is in the stored list of that package`(
    name: String, repository: String
  ) throws {
    let package = try OtherPackage(repository)
    #expect(package.declarations(named: [name]).count == 1)
    #expect(package.declarations(named: ["WebRequest"]).isEmpty)
  }

  @Test(arguments: OtherPackage.repositories)
  func `each other package has a stored list with its version and its public names`(
    repository: String
  ) throws {
    let package = try OtherPackage(repository)
    #expect(package.title.hasPrefix(repository))
    #expect(package.title.contains(#/ \d+\.\d+\.\d+/#))
    #expect(!package.declarations.isEmpty)
    #expect(package.declarations.allSatisfy { $0.contains(#/^\w+\.[^\s.]+$/#) })
  }

  @Test func `each stored list of public names belongs to a package that the tests compare`() throws
  {
    let files = try FileManager.default.contentsOfDirectory(atPath: OtherPackage.folder.path)
    #expect(Set(files) == Set(OtherPackage.repositories.map(OtherPackage.file)))
  }

  /// If a type had the name of its module, an app that writes the name for the module would get the
  /// type.
  @Test func `no public type has the name of a library`() async throws {
    let modules = try await Self.names()
    let names = modules.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    #expect(names.isDisjoint(with: modules.keys))
  }

  @Test func `the script that lists public names agrees with the compiler`() async throws {
    let modules = try await Self.names()
    let script = PackageSources.root.appending(path: "Scripts/checks/public_names.py").path
    let sources = PackageSources.root.appending(path: "Sources").path
    let command = ["python3", script, "title", sources] + modules.keys.sorted()
    let result = try await ChildProcess.run(command)
    #expect(result.status == 0, "\(result.errors)")
    let lines = modules.flatMap { module, names in names.map { name in "\(module).\(name)" } }
    let listed = result.output.split(separator: "\n").dropFirst().map { String($0) }
    #expect(Set(listed) == Set(lines))
  }

  /// Returns the public names at file scope of each library.
  private static func names() async throws -> [String: Set<String>] {
    let folder = try TemporaryFolder()
    var names: [String: Set<String>] = [:]
    for module in try await PackageManifest.read().libraries {
      let graph = try await SymbolGraph.extract(from: module, .public, in: folder.path)
      let paths = graph.symbols.map(\.pathComponents).filter { $0.count == 1 }
      names[module] = Set(paths.map { path in self.name(in: path[0]) })
    }
    return names
  }

  /// Returns the name of a declaration without the labels of a function.
  private static func name(in declaration: String) -> String {
    String(declaration.prefix { $0 != "(" })
  }
}
