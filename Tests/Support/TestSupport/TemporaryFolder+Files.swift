package import Foundation

extension TemporaryFolder {
  /// Writes a file that only its owner can read, as a file with a secret must be.
  package func write(_ content: String, to name: String) throws {
    try Data(content.utf8).write(to: URL(filePath: file(name)))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file(name))
  }

  /// Returns the content of a file, or an empty text if the file does not exist.
  package func read(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  /// Creates a file for a process to write to.
  package func handle(_ name: String) throws -> FileHandle {
    try write("", to: name)
    return try FileHandle(forWritingTo: URL(filePath: file(name)))
  }
}
