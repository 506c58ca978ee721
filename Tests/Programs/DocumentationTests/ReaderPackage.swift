import Foundation
import ProgramSupport
import TestSupport

/// A reader's package that depends on the SDK's package by its path, built as the reader would
/// build it.
///
/// The package cannot find the system libraries that only other products of the SDK need.
struct ReaderPackage: Sendable {
  private let folder: TemporaryFolder
  private let root: String

  /// Creates the package beside a link to the SDK's folder; the link has the name in the manifest.
  init(manifest: String) throws {
    folder = try TemporaryFolder()
    root = folder.file("greeter")
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: folder.file("sequencing-oauth"), withDestinationPath: PackageSources.root.path)
    try files.createDirectory(
      atPath: root + "/Sources/greeter", withIntermediateDirectories: true)
    try Data(manifest.utf8).write(to: URL(filePath: root + "/Package.swift"))
    try UnusedLibraries.write(to: folder)
  }

  /// Builds the package for release with `code` as `main.swift`, and returns the program's path.
  ///
  /// A build with a warning in any part of the SDK fails. A release build compiles each module as a
  /// whole, so it can find other problems than single files.
  func build(_ code: String) async throws -> String {
    try Data(code.utf8).write(to: URL(filePath: root + "/Sources/greeter/main.swift"))
    let result = try await ChildProcess.run(
      [
        "swift", "build", "-c", "release", "--package-path", root,
        "--cache-path", folder.file("cache"),
        // Leaves out the data for editors and debuggers, which takes a quarter of the build time.
        "--disable-index-store", "-debug-info-format", "none",
      ] + UnusedLibraries.options(in: folder),
      within: .seconds(1500))
    let said = result.output + result.errors
    guard result.status == 0, !said.contains("warning:") else {
      throw BuildFailed(
        message: "swift build of \(root) failed or printed a warning: \(said)")
    }
    return root + "/.build/release/greeter"
  }

  private struct BuildFailed: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}
