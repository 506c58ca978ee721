import Foundation
import TestSupport

/// Compiles the C code of tests, such as a library that makes a process's system calls fail.
package enum CCompiler {
  package static let requirement = ProgramRequirement(programs: ["clang"])

  /// Compiles a text; the options say what to make of it, and where.
  package static func compile(
    _ source: String, _ options: [String]
  ) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    let file = folder.file("main.c")
    try Data(source.utf8).write(to: URL(filePath: file))
    return try await ChildProcess.run(["clang", file] + options)
  }

  /// Builds a library from a text, with more options for the compiler.
  package static func buildLibrary(
    _ source: String, at library: String, _ options: [String] = []
  ) async throws {
    let result = try await compile(source, ["-shared", "-fPIC", "-o", library] + options)
    guard result.status == 0 else { throw CCompilerError(message: result.errors) }
  }

  /// Returns the options for the headers of an installed library.
  package static func flags(of library: String) async throws -> [String] {
    let flags = try await ChildProcess.run(["pkg-config", "--cflags", library])
    guard flags.status == 0 else { throw CCompilerError(message: flags.errors) }
    return flags.output.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}

/// The error for C code that cannot be compiled.
package struct CCompilerError: Error, CustomStringConvertible {
  private let message: String
  package var description: String { "the C code cannot be compiled: \(message)" }

  package init(message: String) {
    self.message = message
  }
}
