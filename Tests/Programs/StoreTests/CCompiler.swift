import Foundation
import ProgramSupport

extension CCompiler {
  /// Builds a library from a file in the folder `Faults`; a warning is an error.
  static func buildLibrary(
    from name: String, at library: String, _ options: [String] = []
  ) async throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Faults/\(name).c")
    try await buildLibrary(
      String(contentsOf: file, encoding: .utf8), at: library, ["-Wall", "-Werror"] + options)
  }
}
