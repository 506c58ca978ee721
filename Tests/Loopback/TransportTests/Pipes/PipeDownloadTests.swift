import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Downloads from a drive that breaks connections, ignores ranges and changes its files.
@Suite("End to end: downloads", .timeLimit(.minutes(1))) struct PipeDownloadTests {
  private static let media = ["alt": "media"]

  /// A drive with one file, and the folder for its download.
  struct Place {
    let drive: DriveFixture
    let folder: TemporaryFolder
    let file: SandboxFile
    let progress = PipeUploadTests.Progress()

    init(
      _ content: Data = pattern(1_000_000), _ configuration: PipeConfiguration = .init(),
      scope: String = "files"
    ) async throws {
      drive = try await DriveFixture(configuration, scope: scope, byHand: scope == "files")
      folder = try TemporaryFolder()
      file = drive.sandbox.addFile("f", content: content)
    }

    var destination: URL { URL(filePath: folder.file("f")) }

    func download() async throws(PipeError) {
      try await drive.files.download(id: file.id, parameters: media, to: destination) {
        [progress] in progress.note($0)
      }
    }

    /// The requested ranges, in order.
    var ranges: [String?] { drive.sandbox.requests(to: .driveContent).map { $0.header("range") } }

    var contents: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// Expects the downloaded file and nothing else in the folder.
    func expect(_ content: Data, sourceLocation: SourceLocation = #_sourceLocation) throws {
      #expect(try Data(contentsOf: destination) == content, sourceLocation: sourceLocation)
      #expect(try contents == ["f"], sourceLocation: sourceLocation)
      progress.expectRise(sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [0, 1, 1_000_000])
  func `a file is downloaded in one request`(size: Int) async throws {
    let place = try await Place(pattern(size))
    try await place.download()
    try place.expect(pattern(size))
    #expect(place.drive.asked == ["GET /drive/v2/files/\(place.file.id)?alt=media"])
    #expect(place.ranges == [nil])
  }

  @Test func `a download continues where the connection broke`() async throws {
    let place = try await Place()
    place.drive.sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 300_000))
    place.drive.sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 200_000))
    try await place.download()
    try place.expect(pattern(1_000_000))
    // Each range begins where the connection broke, so no byte was requested twice.
    #expect(place.ranges == [nil, "bytes=300000-", "bytes=500000-"])
    let conditions = place.drive.sandbox.requests(to: .driveContent).map { $0.header("if-range") }
    #expect(conditions == [nil, place.file.etag, place.file.etag])
    #expect(place.drive.tokensUsed.count == 1)
  }

  @Test func `a download does not continue as another user`() async throws {
    let place = try await Place()
    let module = place.drive.module
    place.drive.sandbox.misbehave(
      at: .driveContent,
      .hold(until: { _ = try? await module.signIn() }, then: .cut(afterBodyBytes: 300_000)))
    let error = await pipeFailure { () async throws(PipeError) in try await place.download() }
    guard case .noAccess(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .sessionReplaced)
    #expect(place.ranges == [nil] && place.drive.tokensUsed.count == 1)
  }

  @Test func `a later download continues where a cancelled one stopped`() async throws {
    let place = try await Place()
    place.drive.sandbox.misbehave(at: .driveContent, .stall(afterBodyBytes: 400_000))
    let first = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await place.download() }
    }
    try await eventually("the download halts") { place.progress.all.last?.completed == 400_000 }
    place.drive.files.cancel()
    guard case .cancelled? = try await first.value else {
      Issue.record("the download was not cancelled")
      return
    }
    #expect(try place.contents == ["f.partial", "f.partial.info"])
    let second = PipeUploadTests.Progress()
    try await place.drive.files.download(
      id: place.file.id, parameters: Self.media, to: place.destination, progress: second.note)
    #expect(try Data(contentsOf: place.destination) == pattern(1_000_000))
    #expect(place.ranges == [nil, "bytes=400000-"])
    #expect(second.all.allSatisfy { $0.completed >= 400_000 })
    second.expectRise()
  }

  @Test(arguments: [true, false])
  func `a later download after another sign-in continues only for the same known user`(
    isKnown: Bool
  ) async throws {
    let scope = isKnown ? "openid files" : "files"
    let place = try await Place(scope: scope)
    place.drive.sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 300_000))
    place.drive.sandbox.misbehave(at: .driveContent, .status(503))
    let error = await pipeFailure { () async throws(PipeError) in try await place.download() }
    #expect(error?.refusal?.status == 503)
    _ = try await place.drive.module.signIn()
    try await place.drive.files.download(
      id: place.file.id, parameters: Self.media, to: place.destination)
    #expect(try Data(contentsOf: place.destination) == pattern(1_000_000))
    #expect(place.ranges == [nil, "bytes=300000-", isKnown ? "bytes=300000-" : nil])
  }

  @Test func `a download accepts the whole file from a server that ignores ranges`() async throws {
    let place = try await Place()
    place.drive.sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 300_000))
    place.drive.sandbox.misbehave(at: .driveContent, .ignoringRange)
    try await place.download()
    try place.expect(pattern(1_000_000))
    #expect(place.ranges == [nil, "bytes=300000-"])
  }

  @Test(arguments: [false, true])
  func `a file that changes during the download is never mixed with its old content`(
    serverIgnoresCondition: Bool
  ) async throws {
    let place = try await Place()
    let sandbox = place.drive.sandbox
    let changed = Data(pattern(900_000).reversed())
    sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 300_000))
    sandbox.misbehave(
      at: .driveContent,
      .hold(
        until: { sandbox.replaceContent(of: place.file.id, with: changed) },
        then: serverIgnoresCondition ? .ignoring("If-Range") : nil))
    try await place.download()
    #expect(try Data(contentsOf: place.destination) == changed)
    #expect(try place.contents == ["f"])
    #expect(place.ranges == [nil, "bytes=300000-"] + (serverIgnoresCondition ? [nil] : []))
  }

  @Test func `a token rejected between two attempts is refreshed`() async throws {
    let place = try await Place()
    let sandbox = place.drive.sandbox
    sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 300_000))
    sandbox.misbehave(at: .driveContent, .hold(until: { sandbox.expireAccessTokens() }))
    try await place.download()
    try place.expect(pattern(1_000_000))
    let request = "GET /drive/v2/files/\(place.file.id)?alt=media"
    #expect(place.drive.asked == [request, request, "POST /token refresh_token", request])
    #expect(place.ranges == [nil, "bytes=300000-", "bytes=300000-"])
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let misbehaviour: SandboxMisbehaviour
    let status: Int
    var requests = 1
  }

  @Test(arguments: [
    Row(
      testDescription: "404", misbehaviour: .status(404, body: "what it says"), status: 404),
    Row(
      testDescription: "500", misbehaviour: .status(500, body: "what it says"), status: 500),
    Row(
      testDescription: "a redirect",
      misbehaviour: .status(302, headers: ["Location": "/x"], body: "what it says"), status: 302),
    Row(
      testDescription: "scope",
      misbehaviour: .status(
        403, headers: ["WWW-Authenticate": #"Bearer error="insufficient_scope", scope="x""#],
        body: "what it says"), status: 403),
    Row(
      testDescription: "401 twice",
      misbehaviour: .status(
        401, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#],
        body: "what it says"), status: 401, requests: 2),
  ])
  func `a rejected download reports the server's message and changes no file`(row: Row) async throws
  {
    let place = try await Place()
    try Data("before".utf8).write(to: place.destination)
    place.drive.sandbox.misbehave(at: .driveContent, row.misbehaviour, times: 2)
    let error = await pipeFailure { () async throws(PipeError) in try await place.download() }
    #expect(error?.refusal?.status == row.status, "\(String(describing: error))")
    #expect(error?.refusal?.body == Data("what it says".utf8))
    #expect((error?.refusal?.challenge != nil) == [401, 403].contains(row.status))
    #expect(try Data(contentsOf: place.destination) == Data("before".utf8))
    #expect(try place.contents == ["f"] && place.ranges.count == row.requests)
    #expect(place.progress.all.allSatisfy { $0.fraction ?? 0 < 1 })
  }

  @Test func `an oversized error response is still reported as the server's rejection`()
    async throws
  {
    var configuration = PipeConfiguration()
    configuration.maximumResponseBytes = 1000
    let place = try await Place(pattern(5000), configuration)
    place.drive.sandbox.misbehave(
      at: .driveContent, .status(502, body: String(repeating: "x", count: 10_000)))
    let error = await pipeFailure { () async throws(PipeError) in try await place.download() }
    #expect(error?.refusal?.status == 502, "\(String(describing: error))")
    #expect(try place.contents.isEmpty)
    // `maximumResponseBytes` does not limit content that a download writes to a file.
    try await place.drive.files.download(
      id: place.file.id, parameters: Self.media, to: place.destination)
    #expect(try Data(contentsOf: place.destination) == pattern(5000))
  }

  @Test func `a server that is silent before the first byte causes a timeout`() async throws {
    let place = try await Place(pattern(1000))
    let time = TimeLead()
    place.drive.fixture.oauth.environment.transport = CurlTransport(lead: time)
    place.drive.sandbox.misbehave(at: .driveContent, .stall(afterBodyBytes: 0))
    let hours = Task {
      try await eventually("the server is asked") { place.ranges.count == 1 }
      // The response head may arrive after any advance of the clock. Then another silence begins,
      // so the clock advances again and again.
      while !Task.isCancelled {
        time.advance(by: .seconds(3600))
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    defer { hours.cancel() }
    let error = await pipeFailure { () async throws(PipeError) in try await place.download() }
    guard case .timedOut? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(place.ranges == [nil])
    #expect(try place.contents.isEmpty)
  }

  @Test func `after a download stalls in the middle, the rest of the file is requested`()
    async throws
  {
    let place = try await Place(pattern(1_000_000))
    let time = TimeLead()
    place.drive.fixture.oauth.environment.transport = CurlTransport(lead: time)
    place.drive.sandbox.misbehave(at: .driveContent, .stall(afterBodyBytes: 500_000))
    async let isOver: Void = {
      try await eventually("the download halts") { place.progress.all.last?.completed == 500_000 }
      time.advance(by: .seconds(3600))
    }()
    try await place.download()
    try await isOver
    try place.expect(pattern(1_000_000))
    #expect(place.ranges == [nil, "bytes=500000-"])
  }

  @Test func `a second download to the same file fails while the first one runs`() async throws {
    let place = try await Place()
    place.drive.sandbox.misbehave(at: .driveContent, .stall(afterBodyBytes: 1000))
    let first = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await place.download() }
    }
    try await eventually("the download halts") { place.progress.all.last?.completed == 1000 }
    let second = await pipeFailure { () async throws(PipeError) in try await place.download() }
    #expect(second?.cause?.code == .fileInUse)
    first.cancel()
    guard case .cancelled? = try await first.value else {
      Issue.record("the download was not cancelled")
      return
    }
    try await place.download()
    #expect(try Data(contentsOf: place.destination) == pattern(1_000_000))
  }
}
