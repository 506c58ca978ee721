import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Uploads to a drive: forms with parts of every kind, sent completely or not at all.
@Suite("End to end: uploads", .timeLimit(.minutes(3))) struct PipeUploadTests {
  typealias File = DriveFixture.File

  /// A record of the progress of an upload or a download.
  final class Progress: Sendable {
    private let state = Locked<[TransferProgress]>([])
    var all: [TransferProgress] { state.withLock(\.self) }

    func note(_ progress: TransferProgress) { state.withLock { $0.append(progress) } }

    /// Expects that the progress never falls and reaches the total exactly once, at the end.
    func expectRise(sourceLocation: SourceLocation = #_sourceLocation) {
      let fractions = all.compactMap(\.fraction)
      #expect(fractions == fractions.sorted(), sourceLocation: sourceLocation)
      #expect(
        all.map(\.completed) == all.map(\.completed).sorted(), sourceLocation: sourceLocation)
      #expect(fractions.last == 1, sourceLocation: sourceLocation)
      #expect(fractions.count { $0 == 1 } == 1, sourceLocation: sourceLocation)
    }
  }

  /// Returns a source of chunks of `size` bytes that starts again for each attempt.
  private func chunks(_ data: Data, of size: Int = 50_000) -> @Sendable () -> @Sendable () -> Data?
  {
    {
      let rest = Locked(data)
      return {
        rest.withLock { rest in
          guard !rest.isEmpty else { return nil }
          defer { rest = Data(rest.dropFirst(size)) }
          return Data(rest.prefix(size))
        }
      }
    }
  }

  private func file(_ content: Data, in folder: TemporaryFolder) throws -> URL {
    let url = URL(filePath: folder.file("photo \"1\".bin"))
    try content.write(to: url)
    return url
  }

  @Test func `a form with fields, data, streams and files reaches the server unchanged`()
    async throws
  {
    let drive = try await DriveFixture()
    let folder = try TemporaryFolder()
    let content = pattern(3_000_000)
    let progress = Progress()
    let form: MultipartForm = [
      .field("note", "a\r\n--b\r\n ü"), .data("title", Data("Ferien ⛱".utf8)),
      .stream("description", length: 9, makeChunks: chunks(Data("described".utf8), of: 2)),
      .file("file", try file(content, in: folder), contentType: "image/x-test"),
    ]
    let created = try await drive.uploads.upload(form, returning: File.self) {
      progress.note($0)
    }
    let stored = try #require(drive.stored(created.id))
    #expect(stored.title == "Ferien ⛱" && stored.description == "described")
    #expect(stored.contentType == "image/x-test" && stored.content == content)
    #expect(drive.asked == ["POST /upload/drive/v2/files"])
    let request = drive.sandbox.requests[0]
    #expect(request.header("content-length") == String(request.bodyLength))
    progress.expectRise()
    #expect(progress.all.last?.total == Int64(request.bodyLength))
  }

  @Test func `a stream of unknown length is sent in chunks`() async throws {
    let drive = try await DriveFixture()
    let content = pattern(700_000)
    let progress = Progress()
    let created = try await drive.uploads.upload(
      [.field("title", "t"), .stream("file", filename: "s", makeChunks: chunks(content))],
      returning: File.self, progress: { progress.note($0) })
    #expect(drive.stored(created.id)?.content == content)
    #expect(drive.sandbox.requests[0].header("transfer-encoding") == "chunked")
    progress.expectRise()
  }

  @Test func `an uploaded file replaces the content of an existing record`() async throws {
    let drive = try await DriveFixture()
    let folder = try TemporaryFolder()
    let id = drive.sandbox.addFile("old", content: Data("old".utf8)).id
    try await drive.uploads.upload(
      .file(file(pattern(5000), in: folder)), contentType: "text/x-new", id: id)
    let stored = drive.stored(id)
    #expect(stored?.content == pattern(5000) && stored?.contentType == "text/x-new")
    #expect(stored?.title == "old" && drive.asked == ["PUT /upload/drive/v2/files/\(id)"])
  }

  @Test func `an expired token is refreshed before any byte is sent`() async throws {
    let drive = try await DriveFixture()
    drive.fixture.clock.advance(by: 3600)
    let stream = chunks(pattern(100_000))()
    let created = try await drive.uploads.upload(
      [.stream("file", filename: "once", once: { stream() })], returning: File.self)
    #expect(drive.stored(created.id)?.content == pattern(100_000))
    #expect(drive.asked == ["POST /token refresh_token", "POST /upload/drive/v2/files"])
  }

  /// A small body is read before it is rejected; a large one is rejected while it is being sent.
  @Test(arguments: [1000, 3_000_000])
  func `a form rejected for its token is sent again completely`(size: Int) async throws {
    let drive = try await DriveFixture()
    let folder = try TemporaryFolder()
    drive.revokeAccessToken()
    let progress = Progress()
    let form: MultipartForm = [
      .stream("description", makeChunks: chunks(Data("described".utf8), of: 4)),
      .file("file", try file(pattern(size), in: folder)),
    ]
    let created = try await drive.uploads.upload(form, returning: File.self) {
      progress.note($0)
    }
    #expect(drive.stored(created.id)?.content == pattern(size))
    #expect(drive.stored(created.id)?.description == "described")
    #expect(drive.sandbox.files().count == 6)
    #expect(
      drive.asked == [
        "POST /upload/drive/v2/files", "POST /token refresh_token", "POST /upload/drive/v2/files",
      ])
    #expect(drive.tokensUsed.count == 2)
    progress.expectRise()
  }

  @Test(arguments: [1000, 3_000_000])
  func `a one-time stream that the server rejected is not sent again`(size: Int) async throws {
    let drive = try await DriveFixture()
    // The server rejects the upload after it has begun.
    let gate = Gate(isOpen: false)
    drive.sandbox.misbehave(
      at: .driveUpload,
      .unread(.hold(until: { await gate.opened() }, then: .bearerError("invalid_token"))))
    let progress = Progress()
    let stream = chunks(pattern(size))()
    let form: MultipartForm = [
      .stream(
        "file", filename: "once", length: Int64(size),
        once: {
          gate.open()
          return stream()
        })
    ]
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload(form) { progress.note($0) }
    }
    guard case .failed(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .bodyNotReplayable && cause.message.contains("file"))
    #expect(drive.sandbox.files().count == 5, "the rejected upload created no file")
    #expect(
      drive.asked == ["POST /upload/drive/v2/files", "POST /token refresh_token"],
      "the token was refreshed, and the form was not sent again")
    #expect(progress.all.allSatisfy { $0.fraction ?? 0 < 1 })
    // This form can never be sent again. A newly created form works.
    let spent = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload(form)
    }
    #expect(spent?.cause?.code == .bodyNotReplayable && drive.asked.count == 2)
    let again = chunks(pattern(size))()
    try await drive.uploads.upload([.stream("file", filename: "once", once: { again() })])
    #expect(drive.sandbox.files().last?.content == pattern(size))
  }

  /// Whether the upload succeeds depends on how much is sent before the server rejects the token.
  @Test func `a one-time stream is stored completely or its upload fails`() async throws {
    for _ in 0..<5 {
      let drive = try await DriveFixture()
      drive.revokeAccessToken()
      let stream = chunks(pattern(2_000_000))()
      do throws(PipeError) {
        try await drive.uploads.upload([.stream("file", filename: "once", once: { stream() })])
        #expect(drive.sandbox.files().last?.content == pattern(2_000_000))
      } catch {
        #expect(error.cause?.code == .bodyNotReplayable && drive.sandbox.files().count == 5)
      }
    }
  }

  @Test func `a 413 response before the body is read is reported as the API's refusal`()
    async throws
  {
    var options = SandboxOptions()
    options.driveBytes = 100_000
    let drive = try await DriveFixture(options: options)
    let progress = Progress()
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload(
        [.data("file", pattern(8_000_000), filename: "large")], progress: { progress.note($0) })
    }
    #expect(error?.refusal?.status == 413, "\(String(describing: error))")
    #expect(error?.refusal?.body.isEmpty == false && drive.asked.count == 1)
    #expect(progress.all.allSatisfy { $0.fraction ?? 0 < 1 })
  }

  @Test func `an upload is not sent again after its connection has broken`() async throws {
    let drive = try await DriveFixture()
    drive.sandbox.misbehave(at: .driveUpload, .unread(.cut(.beforeProcessing, reset: true)))
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload([.data("file", pattern(8_000_000), filename: "large")])
    }
    guard case .failed(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .connectionFailed && drive.asked.count == 1)
    #expect(drive.sandbox.files().count == 5)
  }

  @Test func `an upload of a missing file fails without a request to the server`() async throws {
    let drive = try await DriveFixture(isSignedIn: false)
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload([.file("file", URL(filePath: "/nonexistent/file"))])
    }
    #expect(error?.cause?.code == .malformedRequest && drive.asked.isEmpty)
    #expect(drive.fixture.visited.isEmpty, "no sign-in is started")
  }

  @Test func `an error of the app's stream is passed to the app`() async throws {
    let drive = try await DriveFixture()
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload([
        .stream("file", filename: "f", makeChunks: { { throw URLError(.fileDoesNotExist) } })
      ])
    }
    guard case .failed(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.cause is URLError, "\(cause)")
    #expect(drive.sandbox.files().count == 5)
    _ = try await drive.files.read()
  }
}
