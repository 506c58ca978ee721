import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The user's own files whose names are also the names of a download's files.
///
/// A server that chooses a download's name can cause this.
@Suite(.timeLimit(.minutes(1))) struct DownloadForeignFileTests {
  private static let work = Data("three years of work".utf8)

  let fixture: DownloadFixture
  let content = pattern(400_000)

  init() throws {
    fixture = try DownloadFixture()
  }

  private func write(_ content: Data, to name: String, mode: Int = 0o644) throws -> String {
    let path = fixture.folder.file(name)
    try content.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  @Test(arguments: [".partial", ".partial.info"], [0o644, 0o600])
  func `a file that belongs to no download is not changed`(ending: String, mode: Int) async throws {
    let server = try RangeServer(content)
    let path = try write(Self.work, to: "file.bin\(ending)", mode: mode)
    let error = await failure(.fileFailed) { try await fixture.download(server) }
    #expect(error?.message.contains("file.bin.partial") == true, "\(error?.message ?? "")")
    #expect(server.requests.isEmpty)
    #expect(FileManager.default.contents(atPath: path) == Self.work)
    #expect(try TemporaryFolder.mode(path) == mode)
    #expect(try fixture.names == ["file.bin\(ending)"])
  }

  @Test(arguments: ["", "{", #"{"version":1}"#, #"{"version":1,"url":"https://x"}"#, "gone"])
  func `a partial file with an invalid or missing .info file is not overwritten`(record: String)
    async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    if record == "gone" {
      try FileManager.default.removeItem(at: fixture.info)
    } else {
      try Data(record.utf8).write(to: fixture.info)
    }
    let count = server.requests.count
    await failure(.fileFailed) { try await fixture.download(server) }
    #expect(server.requests.count == count)
    #expect(try Data(contentsOf: fixture.partial).count == 150_000)
  }

  @Test(arguments: [".partial.new", ".partial.info.new", ".part", ".new"])
  func `files with names similar to a download's are not changed`(ending: String) async throws {
    let path = try write(Self.work, to: "file.bin\(ending)", mode: 0o600)
    let server = try RangeServer(content)
    #expect(try await fixture.download(server).status == 200)
    #expect(FileManager.default.contents(atPath: path) == Self.work)
    #expect(try fixture.names == ["file.bin", "file.bin\(ending)"])
  }

  /// A killed process leaves the files as they are in the middle of a transfer.
  @Test(arguments: [#""v1""#, #"W/"v1""#])
  func `a download succeeds with the files that a killed process left`(tag: String) async throws {
    let server = try RangeServer(content, [("ETag", tag)], faults: [.stall(after: 100_000)])
    let task = Task { try await fixture.download(server) }
    try await eventually("the first bytes arrive") { fixture.progress.last?.completed == 100_000 }
    let partial = try Data(contentsOf: fixture.partial)
    let info = try Data(contentsOf: fixture.info)
    task.cancel()
    await failure(.cancelled) { try await task.value }
    _ = try write(partial, to: "file.bin.partial", mode: 0o600)
    _ = try write(info, to: "file.bin.partial.info", mode: 0o600)

    _ = try await fixture.download(server)
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try fixture.names == ["file.bin"])
  }

  @Test func `a download that must not replace a file rejects an existing file`() async throws {
    let server = try RangeServer(content)
    try Self.work.write(to: fixture.destination)
    await failure(.fileFailed) {
      try await fixture.download(try server.request(), replacesFile: false)
    }
    #expect(server.requests.isEmpty)
    #expect(try fixture.names == ["file.bin"])
    #expect(try Data(contentsOf: fixture.destination) == Self.work)
  }

  @Test
  func `if no file may be replaced, a file created meanwhile and the received bytes are kept`()
    async throws
  {
    let server = try RangeServer(content)
    let destination = fixture.destination
    let error = await failure(.fileFailed) {
      try await fixture.download(try server.request(), replacesFile: false) { _ in
        try? Self.work.write(to: destination)
      }
    }
    #expect(error?.message.contains(destination.path) == true)
    #expect(try Data(contentsOf: destination) == Self.work)
    #expect(try Data(contentsOf: fixture.partial) == content)
    #expect(FileManager.default.fileExists(atPath: fixture.info.path))
  }

  /// A download that must not replace a file gives the complete file a second name, and then removes
  /// the first one.
  @Test func `a download succeeds if a process was killed while it moved the complete file`()
    async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    #expect(link(fixture.partial.path, fixture.destination.path) == 0)
    _ = try await fixture.download(server)
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try fixture.names == ["file.bin"])
  }

  @Test func `a download that must not replace a file works if no file exists`() async throws {
    let server = try RangeServer(content)
    _ = try await fixture.download(try server.request(), replacesFile: false)
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try fixture.names == ["file.bin"])
  }
}
