import Dispatch
import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Progress closures as an app's screens write them.
@Suite("End to end: progress", .timeLimit(.minutes(1))) struct ProgressTests {
  /// A screen that shows a transfer's progress and records its end.
  @MainActor private final class Screen {
    var fractions: [Double] = []
    var fractionAtEnd: Double?
    var received: [Int64] = []

    func upload(_ data: Data, to pipe: Pipeline.Pipe) async throws -> String {
      let file = try await pipe.upload(
        [.data("file", data, filename: "f")],
        progress: {
          MainActor.assertIsolated()
          self.fractions.append($0.fraction ?? 0)
        })
      fractionAtEnd = fractions.last
      return file["id"].string ?? ""
    }

    func upload(_ file: URL, to pipe: Pipeline.Pipe) {
      pipe.upload(
        .file(file), returning: JSONValue.self,
        progress: { self.fractions.append($0.fraction ?? 0) }
      ) { _ in
        self.fractionAtEnd = self.fractions.last
      }
    }

    func download(_ id: String, from pipe: Pipeline.Pipe, to file: URL) async throws {
      try await pipe.download(id: id, parameters: ["alt": "media"], to: file) {
        self.fractions.append($0.fraction ?? 0)
      }
      fractionAtEnd = fractions.last
    }

    func startDownload(_ id: String, from pipe: Pipeline.Pipe, to file: URL) {
      pipe.download(
        id: id, parameters: ["alt": "media"], to: file,
        progress: { self.fractions.append($0.fraction ?? 0) }
      ) { _ in
        self.fractionAtEnd = self.fractions.last
      }
    }

    func send(_ request: WebRequest, by oauth: SQOAuth?) async throws -> Int {
      var request = request
      request.onProgress {
        MainActor.assertIsolated()
        self.received.append($0.received)
      }
      let response =
        if let oauth { try await oauth.send(request) } else {
          try await CurlTransport.shared.send(request)
        }
      return response.body.count
    }

    /// Expects that the fractions never fall and that the total was reported before the end.
    func expectRise(sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(fractions == fractions.sorted(), sourceLocation: sourceLocation)
      #expect(fractions.count { $0 == 1 } == 1, sourceLocation: sourceLocation)
      #expect(fractionAtEnd == 1, sourceLocation: sourceLocation)
    }
  }

  /// Creates a drive whose callbacks are called on a queue of their own, unless they have an actor.
  private func drive() async throws -> DriveFixture {
    let drive = try await DriveFixture()
    drive.pipeline.callbackQueue = DispatchQueue(label: "elsewhere")
    drive.fixture.oauth.callbackQueue = drive.pipeline.callbackQueue
    return drive
  }

  @MainActor @Test func `a main-actor closure gets the progress of an upload and of a download`()
    async throws
  {
    let drive = try await drive()
    let screen = Screen()
    let id = try await screen.upload(pattern(3_000_000), to: drive.uploads)
    screen.expectRise()
    let other = Screen()
    let folder = try TemporaryFolder()
    try await other.download(id, from: drive.files, to: URL(filePath: folder.file("f")))
    other.expectRise()
    #expect(try Data(contentsOf: URL(filePath: folder.file("f"))) == pattern(3_000_000))
  }

  @MainActor @Test func `the total is reported before the completion is called`() async throws {
    let drive = try await drive()
    let folder = try TemporaryFolder()
    try pattern(3_000_000).write(to: URL(filePath: folder.file("f")))
    let screen = Screen()
    screen.upload(URL(filePath: folder.file("f")), to: drive.uploads)
    try await eventually { screen.fractionAtEnd != nil }
    screen.expectRise()
    let other = Screen()
    let id = try #require(drive.sandbox.files().last?.id)
    other.startDownload(id, from: drive.files, to: URL(filePath: folder.file("copy")))
    try await eventually { other.fractionAtEnd != nil }
    other.expectRise()
  }

  @MainActor @Test(arguments: [false, true])
  func `a main-actor closure gets the progress of a request`(isDirect: Bool) async throws {
    let drive = try await drive()
    let content = pattern(800_000)
    let file = drive.sandbox.addFile("f", content: content)
    let token = try #require(drive.fixture.oauth.currentToken)
    var request = try WebRequest(
      url: drive.sandbox.issuer.absoluteString + "/drive/v2/files/\(file.id)?alt=media")
    if isDirect { request.headers["Authorization"] = "Bearer \(token.accessToken)" }
    let screen = Screen()
    #expect(
      try await screen.send(request, by: isDirect ? nil : drive.fixture.oauth) == content.count)
    let received = screen.received
    #expect(received == received.sorted() && received.last == Int64(content.count))
  }

  @Test func `no progress is reported after an upload has failed`() async throws {
    let drive = try await DriveFixture()
    let queue = DispatchQueue(label: "busy")
    drive.pipeline.callbackQueue = queue
    drive.sandbox.misbehave(at: .driveUpload, .error("invalid_request", status: 400))
    queue.suspend()
    let progress = PipeUploadTests.Progress()
    // The upload ends although the queue of the closure is suspended.
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload(
        [.data("file", pattern(1000), filename: "f")], progress: { progress.note($0) })
    }
    #expect(error?.refusal?.status == 400)
    queue.resume()
    queue.sync {}
    #expect(progress.all.isEmpty)
  }
}
