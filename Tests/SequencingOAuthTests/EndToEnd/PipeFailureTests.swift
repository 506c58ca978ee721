import Foundation
import LoopbackHTTP
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

/// Rows 83 and 84 at a server: whose fault it is, once; and nothing is left behind.
@Suite("End to end: a pipe's failures", .timeLimit(.minutes(1))) struct PipeFailureTests {
  typealias File = DriveBench.File

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let misbehaviour: SandboxMisbehaviour
    let isExpected: @Sendable (PipeError) -> Bool

    init(
      _ name: String, _ misbehaviour: SandboxMisbehaviour,
      _ isExpected: @escaping @Sendable (PipeError) -> Bool
    ) {
      testDescription = name
      self.misbehaviour = misbehaviour
      self.isExpected = isExpected
    }

    static func refused(_ name: String, _ misbehaviour: SandboxMisbehaviour, _ status: Int) -> Row {
      Row(name, misbehaviour) { $0.refusal?.status == status }
    }

    static func unreadable(_ name: String, _ misbehaviour: SandboxMisbehaviour) -> Row {
      Row(name, misbehaviour) { if case .unreadable = $0 { true } else { false } }
    }

    static func failed(
      _ name: String, _ misbehaviour: SandboxMisbehaviour, _ codes: SQOAuthError.Code...
    ) -> Row {
      Row(name, misbehaviour) {
        if case .failed(let cause) = $0 { codes.contains(cause.code) } else { false }
      }
    }
  }

  static let rows = [
    Row.unreadable("HTML", .html), .unreadable("no JSON", .notJSON),
    .unreadable("half the JSON", .truncatedJSON),
    .unreadable("another type", .member("items", "x")),
    .refused("404", .status(404, body: "no"), 404),
    .refused("500", .status(500, body: #"{"e":"C4N4RY"}"#), 500),
    .refused("429", .tooManyRequests(retryAfter: 5), 429),
    .refused("a redirect", .redirect(307, to: "/drive/v2/about"), 307),
    .refused("304", .status(304), 304),
    .refused("more scope", .bearerError("insufficient_scope", scope: "x"), 403),
    .refused("more scope, with 401", .bearerError("insufficient_scope", status: 401), 401),
    .refused("a malformed request", .bearerError("invalid_request", status: 400), 400),
    .failed("too much", .oversize(40_000), .responseTooLarge),
    .failed("without end", .endless, .responseTooLarge),
    .failed("a cut", .cut(.beforeProcessing), .connectionFailed, .invalidResponse),
    .failed("a reset", .cut(.beforeProcessing, reset: true), .connectionFailed),
    .failed("half an answer", .cut(.duringAnswer), .connectionFailed),
  ]

  @Test(arguments: rows)
  func `a failure is told once, and the next call works`(row: Row) async throws {
    var configuration = PipeConfiguration()
    configuration.maximumResponseBytes = 20_000
    let drive = try await DriveBench(configuration)
    // A GET whose connection breaks may be repeated by the transport, so the POST is counted.
    drive.sandbox.misbehave(at: .driveFiles, row.misbehaviour, times: nil)
    let read = await pipeFailure { () async throws(PipeError) in
      _ = try await drive.files.read(DriveBench.List.self)
    }
    #expect(read.map(row.isExpected) == true, "\(String(describing: read))")
    #expect(read.map { everyText(of: $0).contains("C4N4RY") } == false)
    drive.sandbox.forgetRequests()
    let save = await pipeFailure { () async throws(PipeError) in
      _ = try await drive.files.save(File(title: "t"), returning: DriveBench.List.self)
    }
    #expect(save.map(row.isExpected) == true, "\(String(describing: save))")
    #expect(drive.asked == ["POST /drive/v2/files"], "it was sent once and nothing else was")
    drive.sandbox.behave()
    #expect(try await drive.files.read(DriveBench.List.self).items.count >= 5)
    #expect(drive.module.isAuthorized)
  }

  @Test func `what the API says of a file that is not there is told`() async throws {
    let drive = try await DriveBench()
    let errors = [
      await pipeFailure { () async throws(PipeError) in try await drive.files.read(id: "none") },
      await pipeFailure { () async throws(PipeError) in
        try await drive.files.save(File(id: "none", title: "t"))
      },
      await pipeFailure { () async throws(PipeError) in try await drive.files.remove(id: "none") },
    ]
    #expect(errors.map { $0?.refusal?.status } == [404, 404, 404])
    let body = try #require(errors[0]?.refusal?.body)
    #expect(String(decoding: body, as: UTF8.self).contains("\"code\":404"))
    #expect(
      drive.asked == [
        "GET /drive/v2/files/none", "PUT /drive/v2/files/none", "DELETE /drive/v2/files/none",
      ])
  }

  // MARK: Time

  /// A drive whose pipes soon lose their patience; long enough for a busy machine to connect.
  private func impatientDrive() async throws -> DriveBench {
    var configuration = PipeConfiguration()
    configuration.timeout = .seconds(2)
    return try await DriveBench(configuration)
  }

  @Test func `an answer that does not come in time is given up, at both ends`() async throws {
    let drive = try await impatientDrive()
    let hold = Held()
    drive.sandbox.misbehave(at: .driveFiles, hold.misbehaviour)
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.files.save(File(title: "t"))
    }
    guard case .timedOut(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .requestTimedOut)
    try await hold.isLeft()
    #expect(drive.asked == ["POST /drive/v2/files"] && drive.sandbox.files().count == 5)
    _ = try await drive.files.read()
  }

  @Test func `an upload that a server stops reading is given up`() async throws {
    let drive = try await impatientDrive()
    drive.sandbox.misbehave(at: .driveUpload, .unread(.delay(.seconds(3600))))
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload([.data("file", pattern(20_000_000), filename: "f")])
    }
    guard case .timedOut? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try await drive.uploads.upload([.data("file", pattern(10), filename: "f")])
    #expect(drive.sandbox.files().count == 6)
  }

  // MARK: Cancel

  enum Way: CaseIterable {
    case pipe, task
  }

  /// Ends an operation that is under way, in one way or another.
  private func end<Value: Sendable>(
    _ way: Way, _ pipe: Pipeline.Pipe, when isReady: () async throws -> Void,
    _ operation: @escaping @Sendable () async throws(PipeError) -> Value
  ) async throws {
    let task = begin { () -> PipeError? in await pipeFailure(of: operation) }
    try await isReady()
    switch way {
    case .pipe: pipe.cancel()
    case .task: task.cancel()
    }
    guard case .cancelled? = try await task.value else {
      Issue.record("not cancelled")
      return
    }
  }

  @Test(arguments: Way.allCases)
  func `a read that is cancelled leaves the server, and the next one works`(way: Way) async throws {
    let drive = try await DriveBench()
    let hold = Held()
    drive.sandbox.misbehave(at: .driveFiles, hold.misbehaviour)
    try await end(way, drive.files) {
      _ = try await drive.sandbox.requests(to: .driveFiles, atLeast: 1)
    } _: { () async throws(PipeError) in
      try await drive.files.read()
    }
    try await hold.isLeft()
    _ = try await drive.files.read()
    #expect(drive.asked == ["GET /drive/v2/files", "GET /drive/v2/files"])
  }

  @Test(arguments: Way.allCases)
  func `an upload that is cancelled leaves the server, and the next one works`(
    way: Way
  ) async throws {
    let drive = try await DriveBench()
    let server = ReadingServer()
    let pipeline = try Pipeline(server.start(), module: drive.module)
    let endless = try pipeline.add("files")
    let isLetGo = Locked(false)
    try await end(way, endless) {
      try await eventually("it is under way") { server.receivedBytes > 1_000_000 }
    } _: { () async throws(PipeError) in
      try await endless.upload([
        .stream("file", filename: "f") {
          let guardian = Guardian { isLetGo.withLock { $0 = true } }
          return { guardian.chunk }
        }
      ])
    }
    try await eventually("the server sees the end") { server.hasEnded }
    try await eventually("the stream is let go") { isLetGo.withLock(\.self) }
    server.stop()
    try await drive.uploads.upload([.data("file", pattern(10), filename: "f")])
    #expect(drive.sandbox.files().count == 6)
  }

  @Test(arguments: Way.allCases)
  func `a download that is cancelled leaves the server, and the next one works`(
    way: Way
  ) async throws {
    let drive = try await DriveBench()
    let folder = try TemporaryFolder()
    let destination = URL(filePath: folder("f"))
    let id = drive.sandbox.addFile("f", content: pattern(1000)).id
    let hold = Held()
    drive.sandbox.misbehave(at: .driveContent, hold.misbehaviour)
    let media = ["alt": "media"]
    try await end(way, drive.files) {
      _ = try await drive.sandbox.requests(to: .driveContent, atLeast: 1)
    } _: { () async throws(PipeError) in
      try await drive.files.download(id: id, parameters: media, to: destination)
    }
    try await hold.isLeft()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    try await drive.files.download(id: id, parameters: media, to: destination)
    #expect(try Data(contentsOf: destination) == pattern(1000))
  }

  @Test func `an upload may be cancelled by what is told of its progress`() async throws {
    let drive = try await DriveBench()
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.uploads.upload(
        [.data("file", pattern(20_000_000), filename: "f")],
        progress: { if $0.completed > 0 { drive.uploads.cancel() } })
    }
    guard case .cancelled? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    _ = try await drive.files.read()
  }

  @Test func `one that waits for a sign-in ends it, unless somebody else waits`() async throws {
    let drive = try await DriveBench(isSignedIn: false)
    let page = Held()
    // The first visit ends there: two at once would be one user with two tabs.
    drive.sandbox.misbehave(at: .authorization, page.misbehaviour(then: .status(500)))
    let error = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await drive.files.read() }
    }
    _ = try await drive.sandbox.requests(to: .authorization, atLeast: 1)
    #expect(drive.bench.oauth.isAuthorizationPending)
    drive.files.cancel()
    guard case .cancelled? = try await error.value else {
      Issue.record("not cancelled")
      return
    }
    try await eventually("the sign-in is over") { !drive.bench.oauth.isAuthorizationPending }
    page.release()
    _ = try await drive.files.read()
    #expect(drive.sandbox.requests(to: .driveFiles).count == 1)
  }

  @Test func `a cancelled operation leaves the refresh to the others`() async throws {
    let drive = try await DriveBench()
    let hold = Held()
    drive.sandbox.misbehave(at: .token, hold.misbehaviour)
    drive.bench.clock.advance(by: 3600)
    let cancelled = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await drive.uploads.read() }
    }
    let other = begin { try await drive.files.read() }
    _ = try await drive.sandbox.requests(to: .token, atLeast: 1)
    drive.uploads.cancel()
    guard case .cancelled? = try await cancelled.value else {
      Issue.record("not cancelled")
      return
    }
    hold.release()
    _ = try await other.value
    #expect(drive.asked == ["POST /token refresh_token", "GET /drive/v2/files"])
  }

  @Test func `a completion of a cancelled operation comes once`() async throws {
    let drive = try await DriveBench()
    let hold = Held()
    drive.sandbox.misbehave(at: .driveFiles, hold.misbehaviour, times: nil)
    let calls = Locked<[PipeError?]>([])
    for _ in 0..<20 {
      drive.files.read(JSONValue.self) { result in calls.withLock { $0.append(result.reason) } }
    }
    _ = try await drive.sandbox.requests(to: .driveFiles, atLeast: 20)
    drive.files.cancel()
    drive.files.cancel()
    try await eventually("all have come") { calls.withLock(\.count) >= 20 }
    hold.release()
    drive.sandbox.behave()
    _ = try await drive.files.read()
    drive.pipeline.callbackQueue.sync {}
    let errors = calls.withLock(\.self)
    #expect(errors.count == 20)
    #expect(errors.allSatisfy { if case .cancelled? = $0 { true } else { false } })
  }
}

/// An answer that a test holds back; it knows when its client has left.
private final class Held: Sendable {
  private let gate = Gate(isOpen: false)
  private let left = Locked(false)

  var misbehaviour: SandboxMisbehaviour { misbehaviour(then: nil) }

  func misbehaviour(then other: SandboxMisbehaviour?) -> SandboxMisbehaviour {
    .hold(
      until: {
        await self.gate.opened()
        if Task.isCancelled { self.left.withLock { $0 = true } }
      }, then: other)
  }

  func release() { gate.open() }

  func isLeft() async throws {
    try await eventually("the server knows that its client has left") {
      self.left.withLock(\.self)
    }
  }
}

/// Reads the body of a request and never answers, until its client leaves.
private final class ReadingServer: Sendable {
  private let received = Locked(0)
  private let ended = Locked(false)
  private let server = Locked<RawServer?>(nil)

  var receivedBytes: Int { received.withLock(\.self) }
  var hasEnded: Bool { ended.withLock(\.self) }

  /// Starts it and returns its URL.
  func start() throws -> String {
    let server = try RawServer { connection in
      while true {
        let count = connection.read().count
        if count == 0 { break }
        self.received.withLock { $0 += count }
      }
      self.ended.withLock { $0 = true }
    }
    self.server.withLock { $0 = server }
    return "http://127.0.0.1:\(server.port)"
  }

  func stop() {
    self.server.withLock { server in
      defer { server = nil }
      return server
    }?.stop()
  }
}

/// Says when nobody holds it any more.
private final class Guardian: Sendable {
  let chunk = Data(repeating: 7, count: 50_000)
  private let onEnd: @Sendable () -> Void

  init(_ onEnd: @escaping @Sendable () -> Void) {
    self.onEnd = onEnd
  }

  deinit {
    onEnd()
  }
}
