import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Folders and files in which a download cannot work.
///
/// The error comes before any request.
@Suite(.timeLimit(.minutes(1))) struct DownloadFileTests {
  let fixture: DownloadFixture
  let server: RangeServer

  init() throws {
    fixture = try DownloadFixture()
    server = try RangeServer(Data("content".utf8))
  }

  private func expectRefusal(_ path: String? = nil) async throws {
    let error = await failure(.fileFailed) { try await fixture.download(server) }
    #expect(
      error?.message.contains(path ?? fixture.partial.path) == true, "\(error?.message ?? "")")
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: ["partial", "destination", "info"])
  func `a symbolic link in a file's place is rejected and its target kept`(place: String)
    async throws
  {
    let target = fixture.folder.file("target")
    try Data("kept".utf8).write(to: URL(filePath: target))
    let link =
      place == "partial" ? fixture.partial : place == "info" ? fixture.info : fixture.destination
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
    if place == "info" {
      await failure(.fileFailed) { try await fixture.download(server) }
    } else {
      try await expectRefusal(link.path)
    }
    #expect(try Data(contentsOf: URL(filePath: target)) == Data("kept".utf8))
  }

  @Test(arguments: ["partial", "destination"])
  func `a folder or a named pipe in a file's place is rejected`(place: String) async throws {
    let url = place == "partial" ? fixture.partial : fixture.destination
    #expect(mkfifo(url.path, 0o600) == 0)
    try await expectRefusal(url.path)
    try FileManager.default.removeItem(at: url)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    try await expectRefusal(url.path)
  }

  @Test func `a partial file with a second hard link is rejected`() async throws {
    let other = fixture.folder.file("other")
    try Data("kept".utf8).write(to: URL(filePath: other))
    #expect(link(other, fixture.partial.path) == 0)
    try await expectRefusal()
    #expect(try Data(contentsOf: URL(filePath: other)) == Data("kept".utf8))
  }

  @Test(arguments: ["/no/such/folder/file", "/proc/file", "/tmp/"])
  func `a path where no file can be created is rejected`(path: String) async throws {
    let download = ResumableDownload(try server.request(), to: URL(filePath: path))
    let error = await failure(.fileFailed) {
      try await download.run { [fixture] request throws(SQOAuthError) in
        try await fixture.client.send(request)
      }
    }
    #expect(path == "/tmp/" || error?.message.contains(path) == true)
    #expect(server.requests.isEmpty)
  }

  @Test func `a destination that is not a file URL is rejected`() async throws {
    let url = try #require(URL(string: "https://127.0.0.1/file"))
    let download = ResumableDownload(try server.request(), to: url)
    await failure(.fileFailed) {
      try await download.run { _ throws(SQOAuthError) in WebResponse(status: 200) }
    }
  }
}
