import Foundation
import ProgramSupport
import TestSupport

/// The system libraries of the products that a program with `SequencingOAuth` alone does not use.
///
/// Files of their names that nothing can be built with are found before the real ones, so that a
/// build that touches them fails, although they are installed.
enum UnusedLibraries {
  static let names = ["libpq", "libsqlite3", "libz", "libnghttp2"]
  /// The modules that include their headers.
  static let modules = ["CSQPostgreSQL", "CSQSQLite", "CSQZlib", "CSQNghttp2"]
  static let complaint = "a library that is not used here"

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

  static func remove(from folder: TemporaryFolder) throws {
    for name in ["include", "lib"] {
      try FileManager.default.removeItem(atPath: folder.file(name))
    }
  }

  /// Has `swift build` find those files.
  static func options(in folder: TemporaryFolder) -> [String] {
    ["-Xcc", "-I" + folder.file("include"), "-Xlinker", "-L" + folder.file("lib")]
  }

  /// What the compiler says of a module's header where these files are found.
  static func compile(_ module: String) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    try write(to: folder)
    let header = PackageSources.root.appending(path: "Sources/\(module)/shim.h").path
    return try await ChildProcess.run(
      ["clang", "-fsyntax-only", "-x", "c", "-I" + folder.file("include"), header])
  }
}
