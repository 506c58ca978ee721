import Foundation
import ProgramSupport
import TestSupport

/// Compiles the C code of these tests.
enum CCompiler {
  static let requirement = ProgramRequirement(programs: ["clang"])

  /// Compiles a text; the options say what to make of it, and where.
  static func compile(_ source: String, _ options: [String]) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    let file = folder.file("main.c")
    try Data(source.utf8).write(to: URL(filePath: file))
    return try await ChildProcess.run(["clang", file] + options)
  }

  /// Builds a library from a text, with more options for the compiler.
  static func buildLibrary(
    _ source: String, at library: String, _ options: [String] = []
  ) async throws {
    let result = try await compile(source, ["-shared", "-fPIC", "-o", library] + options)
    guard result.status == 0 else { throw CCompilerError(message: result.errors) }
  }

  /// Builds a library from a file in the folder `Faults`; a warning is an error.
  static func buildLibrary(
    from name: String, at library: String, _ options: [String] = []
  ) async throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Faults/\(name).c")
    try await buildLibrary(
      String(contentsOf: file, encoding: .utf8), at: library, ["-Wall", "-Werror"] + options)
  }

  /// Returns the options for the headers of an installed library.
  static func flags(of library: String) async throws -> [String] {
    let flags = try await ChildProcess.run(["pkg-config", "--cflags", library])
    guard flags.status == 0 else { throw CCompilerError(message: flags.errors) }
    return flags.output.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}

struct CCompilerError: Error, CustomStringConvertible {
  let message: String
  var description: String { "the C code cannot be compiled: \(message)" }
}
