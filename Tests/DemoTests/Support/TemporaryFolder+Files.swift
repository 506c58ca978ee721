import Foundation
import TestSupport

extension TemporaryFolder {
  func write(_ content: String, to name: String) throws {
    try Data(content.utf8).write(to: URL(filePath: file(name)))
  }

  /// The content of a file; empty if the file does not exist.
  func read(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  /// A new file for a process to write to.
  func handle(_ name: String) throws -> FileHandle {
    try write("", to: name)
    return try FileHandle(forWritingTo: URL(filePath: file(name)))
  }
}
