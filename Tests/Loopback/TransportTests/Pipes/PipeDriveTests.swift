import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The pipes of a drive: every operation and the requests that it makes.
@Suite("End to end: a drive's records", .timeLimit(.minutes(1))) struct PipeDriveTests {
  typealias File = DriveFixture.File

  @Test func `a file is created, read, renamed and removed`() async throws {
    let drive = try await DriveFixture()
    let created = try await drive.files.save(
      File(title: "Ä & B", mimeType: "text/plain"), returning: File.self)
    let id = try #require(created.id)
    var read = try await drive.files.read(File.self, id: id)
    #expect(read == created && read.title == "Ä & B")
    read.title = "renamed"
    #expect(try await drive.files.save(read, returning: File.self).title == "renamed")
    #expect(drive.stored(id)?.title == "renamed" && drive.stored(id)?.contentType == "text/plain")
    try await drive.files.remove(read)
    #expect(drive.stored(id) == nil)
    #expect(
      drive.asked == [
        "POST /drive/v2/files", "GET /drive/v2/files/\(id)", "PUT /drive/v2/files/\(id)",
        "DELETE /drive/v2/files/\(id)",
      ])
    let requests = drive.sandbox.requests
    #expect(
      requests.map { $0.header("content-type") } == [
        "application/json", nil, "application/json", nil,
      ])
    #expect(requests.allSatisfy { $0.header("accept") == "application/json" })
    #expect(drive.tokensUsed == [drive.module.currentToken?.accessToken])
  }

  @Test func `the list is read as JSON and as the app's own type`() async throws {
    let drive = try await DriveFixture()
    let titles = drive.sandbox.files().map(\.title)
    let list = try await drive.files.read(DriveFixture.List.self, parameters: ["maxResults": "50"])
    #expect(list.titles == titles && !titles.isEmpty)
    let json = try await drive.files.read()
    #expect(json["kind"] == "drive#fileList")
    #expect(drive.asked == ["GET /drive/v2/files?maxResults=50", "GET /drive/v2/files"])
  }

  @Test func `content is read unchanged`() async throws {
    let drive = try await DriveFixture()
    let content = pattern(1000)
    let id = drive.sandbox.addFile("raw", content: content).id
    #expect(try await drive.files.content(id: id, parameters: ["alt": "media"]) == content)
    #expect(drive.asked == ["GET /drive/v2/files/\(id)?alt=media"])
    #expect(drive.sandbox.requests[0].header("accept") == "*/*")
  }

  /// The flow of the cookbook: configure, authorize, list, upload, rename, delete, refresh, revoke,
  /// list.
  @Test func `sign-in, file operations, refresh and revocation send exactly the expected requests`()
    async throws
  {
    let drive = try await DriveFixture(isSignedIn: false, byHand: false)
    #expect(try await drive.files.read(DriveFixture.List.self).items.count == 5)
    #expect(
      drive.paths == [
        "GET /authorize", "POST /login", "GET /consent", "POST /consent", "POST /token",
        "GET /drive/v2/files",
      ])
    #expect(try await drive.module.requestAccess() == drive.module.currentToken)
    drive.sandbox.forgetRequests()
    drive.module.refreshesAutomatically = false

    let form: MultipartForm = [.data("file", pattern(10), filename: "ten.bin")]
    var file = try await drive.uploads.upload(form, returning: File.self)
    let id = try #require(file.id)
    file.title = "10.bin"
    try await drive.files.save(file)
    #expect(try await drive.files.read(DriveFixture.List.self).titles.last == "10.bin")
    try await drive.files.remove(id: id)
    try await drive.module.refresh()
    _ = try await drive.files.read()
    try await drive.module.revoke()
    #expect(!drive.module.hasAccessToken)
    _ = try await drive.files.read()
    #expect(
      drive.paths == [
        "POST /upload/drive/v2/files", "PUT /drive/v2/files/\(id)", "GET /drive/v2/files",
        "DELETE /drive/v2/files/\(id)", "POST /token", "GET /drive/v2/files",
        "POST /revoke", "POST /revoke",
        // The browser still has the user's session, so there is no login page.
        "GET /authorize", "POST /consent", "POST /token", "GET /drive/v2/files",
      ])
    // No request went without a token or with a replaced one.
    let api = drive.sandbox.requests.filter { $0.path.contains("/drive/") }
    #expect(api.allSatisfy { $0.bearerToken != nil } && drive.tokensUsed.count == 3)
  }

  @Test func `every completion is called once with the value or the error`() async throws {
    let drive = try await DriveFixture()
    let folder = try TemporaryFolder()
    let id = drive.sandbox.addFile("a", content: pattern(100)).id
    let other = drive.sandbox.addFile("b", content: Data()).id
    let calls = Locked<[String]>([])
    let note = { @Sendable (name: String, error: PipeError?) in
      calls.withLock { $0.append(error.map { "\(name): \($0)" } ?? name) }
    }
    let destination = URL(filePath: folder.file("a"))
    let files = drive.files
    let json = JSONValue.self
    files.read(json) { note("read", $0.error) }
    files.read(json, id: id) { note("read id", $0.error) }
    files.content(id: id, parameters: ["alt": "media"]) { note("content", $0.error) }
    files.save(File(id: id, title: "x"), returning: json) { note("save", $0.error) }
    files.remove(id: other) { note("remove", $0.error) }
    files.remove(File(title: "without id")) {
      note("remove nothing", $0.error?.cause?.code == .malformedRequest ? nil : .cancelled)
    }
    drive.uploads.upload([.data("file", Data(), filename: "f")], returning: json) {
      note("upload", $0.error)
    }
    drive.uploads.upload(
      .bytes(Data("x".utf8)), parameters: ["title": "t"], returning: json
    ) { note("upload bytes", $0.error) }
    files.download(id: id, parameters: ["alt": "media"], to: destination) {
      note("download", $0.error)
    }
    files.pages(parameters: ["maxResults": "4"]).first { result in
      note("first", result.error)
      try? result.get().next { result in
        note("next", result.error)
        try? result.get()?.previous { note("previous", $0.error) }
      }
    }
    files.read(json, id: "none") {
      note("none", $0.error?.refusal?.status == 404 ? nil : .cancelled)
    }
    let expected = [
      "read", "read id", "content", "save", "remove", "remove nothing", "upload",
      "upload bytes", "download", "first", "next", "previous", "none",
    ]
    try await eventually("all completions are called") { calls.withLock(\.count) >= expected.count }
    drive.pipeline.callbackQueue.sync {}
    #expect(calls.withLock { Set($0) } == Set(expected))
    #expect(calls.withLock(\.count) == expected.count)
    #expect(try Data(contentsOf: destination) == pattern(100))
  }
}
