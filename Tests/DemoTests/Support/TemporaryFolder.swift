import Foundation

/// A folder that is gone after the test.
struct TemporaryFolder: Sendable {
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

  func remove() {
    try? FileManager.default.removeItem(at: url)
  }
}

/// Runs a test with a folder of its own.
func withTemporaryFolder<Result>(_ body: (TemporaryFolder) throws -> Result) throws -> Result {
  let folder = try TemporaryFolder()
  defer { folder.remove() }
  return try body(folder)
}

/// The same for a test that waits.
func withTemporaryFolder<Result>(
  _ body: (TemporaryFolder) async throws -> Result
) async throws -> Result {
  let folder = try TemporaryFolder()
  defer { folder.remove() }
  return try await body(folder)
}
