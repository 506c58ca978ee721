import Foundation
import TestSupport

/// Builds small programs with the libraries of the build that runs this test.
///
/// A package that depends on this one would do the same, but would compile everything again each
/// time.
package struct ProgramBuilder: Sendable {
  private static let libraries = [
    "SequencingOAuth", "SequencingOAuthPipes", "SequencingOAuthBackend",
    "SequencingOAuthDiscovery", "OAuthSandbox", "SQLoopbackPages", "SQLoopback", "SQFiles",
    "SQCrypto", "SQBasics", "SQFoundation", "SQLibC",
  ]

  /// An additional library that some programs need.
  package enum Extra: Sendable {
    /// The store in the desktop's keyring.
    case keyring
    /// The store in an SQLite database.
    case sqlite

    fileprivate var library: String {
      switch self {
      case .keyring: "SequencingOAuthSecretService"
      case .sqlite: "SequencingOAuthSQLite"
      }
    }

    /// The name of the module that declares the system library.
    fileprivate var module: String {
      switch self {
      case .keyring: "CSQSecret"
      case .sqlite: "CSQSQLite"
      }
    }

    fileprivate var links: [String] {
      switch self {
      case .keyring: []
      case .sqlite: ["-lsqlite3"]
      }
    }

    /// Returns the object files of the library's C code in a build folder.
    fileprivate func objects(in products: URL) throws -> [String] {
      guard self == .keyring else { return [] }
      let sources = try FileManager.default.contentsOfDirectory(
        atPath: PackageSources.root.appending(path: "Sources/CSQSecret").path)
      return sources.filter { $0.hasSuffix(".c") }.sorted().map {
        products.appending(path: "CSQSecret.build/\($0).o").path
      }
    }
  }

  private let folder: TemporaryFolder
  private let compiling: [String]
  private let linking: [String]

  /// Finds the libraries, including the additional ones.
  package init(with extras: [Extra] = []) throws {
    folder = try TemporaryFolder()
    let products = Bundle.main.bundleURL
    let modules = ["CSQCurl", "CSQCrypto", "CSQSockets", "CSQTLS"] + extras.map(\.module)
    let maps = try PackageSources.moduleMaps().filter { modules.contains($0.key) }.values
    // The folder may also contain objects of removed sources.
    let libraries = Self.libraries + extras.map(\.library)
    let objects = try libraries.flatMap { library in
      let map = products.appending(path: "\(library).build/output-file-map.json")
      let outputs = try JSONDecoder().decode(
        [String: [String: String]].self, from: Data(contentsOf: map))
      return outputs.values.compactMap { $0["object"] }.sorted()
    }
    let environment = ProcessInfo.processInfo.environment
    let sanitizer = environment["SANITIZE"].map { ["-sanitize=\($0)"] } ?? []
    // In a coverage build, the libraries count the code that runs.
    let coverage = environment["COVERAGE"] == "1" ? ["-profile-generate"] : []
    compiling =
      ["-I", products.appending(path: "Modules").path, "-I", folder.path, "-warnings-as-errors"]
      + PackageSources.moduleCache + PackageSources.options(for: maps) + sanitizer + coverage
    let objectsOfC = try extras.flatMap { try $0.objects(in: products) }
    linking =
      ["-use-ld=lld", "-lcurl", "-lssl", "-lcrypto"] + extras.flatMap(\.links) + objects
      + objectsOfC
  }

  /// Compiles and links a program, and returns its path.
  ///
  /// A warning is an error, unless the further options say otherwise.
  package func build(
    _ name: String, _ files: [String: String], _ more: [String]
  ) async throws -> String {
    let program = folder.file("\(name)/program")
    try await run(["-o", program] + compiling + linking + more, write(files, to: name))
    return program
  }

  /// Compiles a module that programs may import, and returns the object file that they are linked
  /// with.
  package func buildModule(
    _ name: String, _ files: [String: String], _ more: [String]
  ) async throws -> String {
    let object = folder.file("\(name).o")
    let module = [
      "-parse-as-library", "-wmo", "-module-name", name, "-emit-module", "-emit-module-path",
      folder.file("\(name).swiftmodule"), "-emit-object", "-o", object,
    ]
    try await run(module + compiling + more, write(files, to: name))
    return object
  }

  private func write(_ files: [String: String], to name: String) throws -> [String] {
    let place = URL(filePath: folder.file(name))
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    return try files.keys.sorted().map { file in
      try Data((files[file] ?? "").utf8).write(to: place.appending(path: file))
      return place.appending(path: file).path
    }
  }

  private func run(_ options: [String], _ sources: [String]) async throws {
    // The sources come first: the driver writes its list of link inputs next to the first object,
    // and programs that are built at the same time must not share this object.
    let command = ["swiftc"] + sources + options
    let result = try await ChildProcess.run(command, within: .seconds(900))
    guard result.status == 0 else {
      throw BuildFailed(
        message: "swiftc does not compile \(sources.joined(separator: ", ")): "
          + result.output + result.errors)
    }
  }

  private struct BuildFailed: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}
