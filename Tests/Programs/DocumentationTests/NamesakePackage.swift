import Foundation
import ProgramSupport
import TestSupport

/// A package that has targets with common names and depends on the given libraries of the SDK.
struct NamesakePackage: Sendable {
  private static let modules = [
    "Basics", "HTTP2", "Charts", "LoopbackHTTP", "LoopbackPages", "LoopbackHTTP2", "Files",
    "Crypto", "TestSupport", "benchmarks",
  ]
  private static let systemLibraries = [
    "CSQLite", "CCurl", "CCrypto", "CTLS", "CSockets", "CZlib", "CSecret", "CNghttp2",
    "CPostgreSQL",
  ]

  private let folder: TemporaryFolder
  private let root: String

  /// Creates the package beside a copy of the SDK's package.
  ///
  /// `names` has the new names of targets in the copy.
  init(libraries: [String], renaming names: [String: String] = [:]) throws {
    folder = try TemporaryFolder()
    root = folder.file("app")
    try copyPackage(renaming: names)
    for module in Self.modules + ["app"] {
      try write("", to: "app/Sources/\(module)/\(module).swift")
    }
    for library in Self.systemLibraries {
      try write("", to: "app/Sources/\(library)/shim.h")
      try write(
        "module \(library) [system] { header \"shim.h\" }\n",
        to: "app/Sources/\(library)/module.modulemap")
    }
    try write(Self.manifest(libraries: libraries), to: "app/Package.swift")
  }

  private static func manifest(libraries: [String]) -> String {
    let names = (modules + systemLibraries).map { "\"\($0)\"" }
    let products = libraries.map { ".product(name: \"\($0)\", package: \"sequencing-oauth\")" }
    let targets =
      modules.map { ".target(name: \"\($0)\")" }
      + systemLibraries.map { ".systemLibrary(name: \"\($0)\")" }
    return """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "app",
        dependencies: [.package(path: "../sequencing-oauth")],
        targets: [
          \(targets.joined(separator: ",\n    ")),
          .target(
            name: "app",
            dependencies: [\((names + products).joined(separator: ", "))]),
        ])
      """
  }

  /// Creates the copy of the SDK's package: links to its folders, and a manifest with the new
  /// names.
  private func copyPackage(renaming names: [String: String]) throws {
    let files = FileManager.default
    let sources = PackageSources.root.appending(path: "Sources").path
    let copy = folder.file("sequencing-oauth")
    try files.createDirectory(atPath: "\(copy)/Sources", withIntermediateDirectories: true)
    for target in try files.contentsOfDirectory(atPath: sources) {
      try files.createSymbolicLink(
        atPath: "\(copy)/Sources/\(names[target] ?? target)",
        withDestinationPath: "\(sources)/\(target)")
    }
    for other in ["Demo", "Tests"] {
      try files.createSymbolicLink(
        atPath: "\(copy)/\(other)",
        withDestinationPath: PackageSources.root.appending(path: other).path)
    }
    var manifest = try String(
      contentsOf: PackageSources.root.appending(path: "Package.swift"), encoding: .utf8)
    for (old, new) in names { manifest = manifest.replacing("\"\(old)\"", with: "\"\(new)\"") }
    try write(manifest, to: "sequencing-oauth/Package.swift")
  }

  private func write(_ text: String, to file: String) throws {
    let url = URL(filePath: folder.file(file))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  /// Loads the targets of both packages, as each build does first, and returns SwiftPM's answer.
  ///
  /// `swift package resolve` and `describe` do not compare the names of targets.
  func load() async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      [
        "swift", "package", "--package-path", root, "--cache-path", folder.file("cache"),
        "show-dependencies",
      ], within: .seconds(240))
  }
}
