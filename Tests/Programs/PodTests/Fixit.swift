import Foundation
import ProgramSupport
import TestSupport
import Testing

/// A change to a source file that the compiler suggests.
struct Fixit: Decodable {
  let file: String
  let start: Int
  let end: Int
  let text: String

  /// Options that make the compiler write its fix-its to a file beside the program.
  static let options = ["-module-name", "App", "-wmo", "-serialize-diagnostics"]

  /// Returns the fix-its of a program that was built with the ``options``.
  static func all(of program: String) async throws -> [Fixit] {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "fixits")
    let diagnostics = URL(filePath: program).deletingLastPathComponent().appending(path: "App.dia")
    let result = try await ChildProcess.run(
      [script.path, try await libclang(), diagnostics.path])
    try #require(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode([Fixit].self, from: Data(result.output.utf8))
  }

  /// Applies the changes to `files`, which maps each file's name to its content.
  static func apply(_ fixits: [Fixit], to files: [String: String]) -> [String: String] {
    var files = files.mapValues { Array($0.utf8) }
    // The last change comes first, so that earlier positions stay valid.
    for fixit in fixits.sorted(by: { $0.start > $1.start }) {
      let name = URL(filePath: fixit.file).lastPathComponent
      files[name]?.replaceSubrange(fixit.start..<fixit.end, with: fixit.text.utf8)
    }
    return files.mapValues { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the path of the toolchain's library that reads diagnostics.
  private static func libclang() async throws -> String {
    struct Target: Decodable {
      struct Paths: Decodable { let runtimeResourcePath: String }
      let paths: Paths
    }
    let result = try await ChildProcess.run(["swiftc", "-print-target-info"])
    let target = try JSONDecoder().decode(Target.self, from: Data(result.output.utf8))
    return URL(filePath: target.paths.runtimeResourcePath)
      .deletingLastPathComponent().appending(path: "libclang.so").path
  }
}
