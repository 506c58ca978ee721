import Foundation

/// A folder that is removed when nothing refers to it any more: keep it in the suite.
final class TemporaryFolder: Sendable {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "sq-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// The path of a file in it.
  func path(_ name: String = "") -> String { url.appending(path: name).path() }

  func write(_ content: String, to name: String) throws {
    try Data(content.utf8).write(to: url.appending(path: name))
  }

  /// The content of a file; empty where there is none.
  func read(_ name: String) -> String {
    (try? String(contentsOf: url.appending(path: name), encoding: .utf8)) ?? ""
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// A new file for a process to write to.
  func handle(_ name: String) throws -> FileHandle {
    try write("", to: name)
    return try FileHandle(forWritingTo: url.appending(path: name))
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
