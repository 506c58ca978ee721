import Foundation
import ProgramSupport
import TestSupport

/// The system libraries that the tutorial's programs, which use `SequencingOAuth` and
/// `SequencingOAuthPipes`, do not use.
///
/// Unusable files with the names of these libraries come first in the search path. So a build that
/// uses one of the libraries fails, although the real libraries are installed.
enum UnusedLibraries {
  static let names = ["libpq", "libsqlite3", "libz", "libnghttp2"]
  /// The modules that include the libraries' headers.
  static let modules = ["CSQPostgreSQL", "CSQSQLite", "CSQZlib", "CSQNghttp2"]
  static let complaint = "a library that the tutorial does not use"

  private static let headers = ["libpq-fe.h", "sqlite3.h", "zlib.h", "nghttp2/nghttp2.h"]

  static func write(to folder: TemporaryFolder) throws {
    let files =
      headers.map { ("include/\($0)", "#error \(complaint)\n") }
      + names.map { ("lib/\($0).so", "\(complaint)\n") }
    for (name, content) in files {
      let file = URL(filePath: folder.file(name))
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(content.utf8).write(to: file)
    }
  }

  /// Returns options that make `swift build` find the unusable files.
  static func options(in folder: TemporaryFolder) -> [String] {
    ["-Xcc", "-I" + folder.file("include"), "-Xlinker", "-L" + folder.file("lib")]
  }

  /// Compiles a module's header against the unusable files, and returns the compiler's result.
  static func compile(_ module: String) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    try write(to: folder)
    let header = PackageSources.root.appending(path: "Sources/\(module)/shim.h").path
    return try await ChildProcess.run(
      ["clang", "-fsyntax-only", "-x", "c", "-I" + folder.file("include"), header])
  }
}
