package import Foundation

extension TemporaryFolder {
  /// Writes a file that only its owner can read, as a file with a secret must be.
  package func write(_ content: String, to name: String) throws {
    try Self.write(Data(content.utf8), to: file(name))
  }

  /// Writes a file at any path with the mode 0600, as a file with a secret must have.
  ///
  /// With the umask of Debian 13, the user's group could write to a new file, and stores refuse
  /// such a file.
  package static func write(_ content: Data, to path: String) throws {
    try content.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
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
