import Dispatch
import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// An authenticator of an app, which waits until its task is cancelled.
private struct WaitingAuthenticator: ResourceRequestAuthenticator {
  let gate = Gate(isOpen: false)

  func headerFields(for token: SQToken, on request: ResourceRequest) async throws -> HeaderFields {
    await gate.opened()
    throw CancellationError()
  }
}

/// The errors of a pipe's operations.
///
/// Each operation ends exactly once.
@Suite("Pipe errors", .timeLimit(.minutes(1))) struct PipeErrorTests {
  @Test(arguments: [300, 302, 304, 400, 403, 404, 409, 429, 500, 503])
  func `an unsuccessful status is reported with the answer`(status: Int) async throws {
    let fixture = try await PipeFixture()
      .answering(#"{"reason":"r"}"#, status: status, headers: ["Retry-After": "7"])
    let error = await pipeFailure { () async throws(PipeError) in
      _ = try await fixture.pipe.read(id: "a")
    }
    #expect(error?.refusal?.status == status)
    #expect(error?.refusal?.body == Data(#"{"reason":"r"}"#.utf8))
    #expect(error?.refusal?.head.headers["Retry-After"] == "7")
    #expect(error?.localizedDescription == "the API answered with status \(status)")
    #expect(fixture.asked.count == 1, "it was asked once, whatever the status")
  }

  @Test func `the content in the error is cut off at a size limit`() async throws {
    let fixture = try await PipeFixture()
      .answering(String(repeating: "x", count: 100_000), status: 500)
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    #expect(error?.refusal?.body.count == PipeError.Refusal.maximumBytes)
    // A rejection that was too large for the transport is still reported as a rejection.
    fixture.session.api { _ in throw SQOAuthError(.responseTooLarge, "too large", status: 502) }
    let large = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    #expect(large?.refusal?.status == 502 && large?.refusal?.body.isEmpty == true)
  }

  @Test(arguments: [
    "", "null", "nonsense", "<html>", "{", #"{"title":1}"#, #"[{"title":"a"}]"#, "{}", "\u{0}",
  ])
  func `an answer that does not fit the requested type is reported as unreadable`(body: String)
    async throws
  {
    struct File: Decodable, Sendable { var title: String }
    let fixture = try await PipeFixture().answering(body)
    let error = await pipeFailure { () async throws(PipeError) in
      _ = try await fixture.pipe.read(File.self)
    }
    guard case .unreadable(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .invalidResponse)
  }

  @Test
  func `an answer that the app's type rejects is unreadable, with the type's error as the cause`()
    async throws
  {
    struct Odd: Error {}
    struct File: Decodable, Sendable {
      init(from decoder: any Decoder) throws { throw Odd() }
    }
    let fixture = try await PipeFixture()
    let error = await pipeFailure { () async throws(PipeError) in
      _ = try await fixture.pipe.read(File.self)
    }
    guard case .unreadable(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .invalidResponse && cause.cause is Odd)
  }

  @Test func `a deeply nested or very long answer is reported as unreadable`() async throws {
    let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    let wide = "[" + String(repeating: "1,", count: 600_000) + "1]"
    for body in [deep, wide] {
      let fixture = try await PipeFixture().answering(body)
      let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
      guard case .unreadable? = error else {
        Issue.record("unexpected result: \(String(describing: error))")
        return
      }
    }
  }

  @Test func `a timeout is reported differently from a failed connection`() async throws {
    var configuration = PipeConfiguration()
    configuration.timeout = .seconds(7)
    let fixture = try await PipeFixture(configuration)
    fixture.session.api { _ in throw SQOAuthError(.requestTimedOut, "slow") }
    let slow = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .timedOut? = slow else {
      Issue.record("unexpected result: \(String(describing: slow))")
      return
    }
    #expect(fixture.session.apiRequests[0].timeout == .seconds(7))
    fixture.session.api { _ in throw URLError(.cannotConnectToHost) }
    let down = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .failed(let cause)? = down else {
      Issue.record("unexpected result: \(String(describing: down))")
      return
    }
    #expect(cause.code == .connectionFailed)
  }

  @Test func `cancel ends all running operations, but no later operation`() async throws {
    let fixture = try await PipeFixture()
    let hold = fixture.holding()
    let reads = (0..<5).map { id in
      begin { () -> PipeError? in
        await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read(id: id) }
      }
    }
    try await eventually { fixture.asked.count == 5 }
    fixture.pipe.cancel()
    for read in reads {
      guard case .cancelled? = try await read.value else {
        Issue.record("the operation was not cancelled")
        return
      }
    }
    hold.release()
    _ = try await fixture.pipe.read()
    fixture.pipe.cancel()
    _ = try await fixture.pipe.read()
  }

  @Test func `cancel also ends an operation that is just beginning`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.api { _ in
      // This runs before `read()` has finished the creation of the operation's task.
      fixture.pipe.cancel()
      try await Task.sleep(for: .seconds(10))
      return WebResponse(status: 200)
    }
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .cancelled? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
  }

  @Test func `cancel also ends the wait for the app's authenticator`() async throws {
    let fixture = try await PipeFixture()
    let authenticator = WaitingAuthenticator()
    fixture.session.module.environment.requestAuthenticator = authenticator
    let read = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    }
    try await authenticator.gate.isHolding()
    fixture.pipe.cancel()
    guard case .cancelled? = try await read.value else {
      Issue.record("the operation was not cancelled")
      return
    }
    #expect(fixture.asked.isEmpty)
  }

  @Test func `a cancelled task ends its own operation only`() async throws {
    let fixture = try await PipeFixture()
    let hold = fixture.holding()
    let other = begin { try await fixture.pipe.read(id: "b") }
    let task = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read(id: "a") }
    }
    try await eventually { fixture.asked.count == 2 }
    task.cancel()
    guard case .cancelled? = try await task.value else {
      Issue.record("the operation was not cancelled")
      return
    }
    hold.release()
    _ = try await other.value
    // An operation that is cancelled before it begins sends nothing.
    let late = begin { () -> PipeError? in
      withUnsafeCurrentTask { $0?.cancel() }
      return await pipeFailure { () async throws(PipeError) in
        _ = try await fixture.pipe.read(id: "c")
      }
    }
    guard case .cancelled? = try await late.value else {
      Issue.record("the operation was not cancelled")
      return
    }
    #expect(fixture.asked.count == 2)
  }

  @Test func `a cancelled operation does not cancel a shared refresh`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.server.gate.close()
    fixture.session.clock.advance(by: 3600)
    let token = begin { try await fixture.session.module.token() }
    let read = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    }
    try await eventually { fixture.session.requests == ["refresh R1"] }
    fixture.pipe.cancel()
    guard case .cancelled? = try await read.value else {
      Issue.record("the operation was not cancelled")
      return
    }
    fixture.session.server.gate.open()
    #expect(try await token.value.accessToken == "T2")
    _ = try await fixture.pipe.read()
    #expect(fixture.session.requests == ["refresh R1", "GET /v2/files T2"])
  }

  @Test func `each completion handler is called once, on the pipeline's queue`() async throws {
    let fixture = try await PipeFixture().answering(#"{"id":"a"}"#)
    let queue = DispatchQueue(label: "test")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    fixture.pipeline.callbackQueue = queue
    let calls = Locked<[String]>([])
    let note = { @Sendable (text: String) in
      calls.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true ? text : "elsewhere") }
    }
    fixture.pipe.read(JSONValue.self) { note((try? $0.get()) == nil ? "no" : "read") }
    fixture.pipe.read(JSONValue.self, id: 3) { note((try? $0.get()) == nil ? "no" : "read 3") }
    fixture.pipe.save(JSONValue.object([:]), returning: JSONValue.self) {
      note((try? $0.get()) == nil ? "no" : "save")
    }
    fixture.pipe.remove(id: "a") { note((try? $0.get()) == nil ? "no" : "remove") }
    fixture.pipe.remove(id: "") { note((try? $0.get()) == nil ? "remove nothing" : "no") }
    try await eventually { calls.withLock(\.count) == 5 }
    queue.sync {}
    #expect(
      calls.withLock(\.self).sorted() == ["read", "read 3", "remove", "remove nothing", "save"])
  }

  @Test func `a call with a completion handler runs no code of the app on its own thread`()
    async throws
  {
    let fixture = try await PipeFixture()
    // While the app's queue runs a block, only this block's thread has the queue's value.
    let queue = DispatchQueue(label: "app")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let isOnQueue = Locked<Bool?>(nil)
    fixture.session.api { _ in
      isOnQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) == true }
      return WebResponse(status: 200)
    }
    await withCheckedContinuation { continuation in
      queue.sync { fixture.pipe.read(JSONValue.self) { _ in continuation.resume() } }
    }
    #expect(isOnQueue.withLock(\.self) == false)
  }

  @Test func `cancel ends an operation that was begun with a completion handler just before`()
    async throws
  {
    let fixture = try await PipeFixture()
    let hold = fixture.holding()
    let result = await withCheckedContinuation { continuation in
      fixture.pipe.read(JSONValue.self) { continuation.resume(returning: $0) }
      fixture.pipe.cancel()
    }
    hold.release()
    guard case .failure(.cancelled) = result else {
      Issue.record("the operation was not cancelled")
      return
    }
  }

  @Test func `completion handlers keep their queue after the pipeline is released`() async throws {
    let session = try await SessionFixture().restored()
    session.api { _ in WebResponse(status: 200) }
    let queue = DispatchQueue(label: "test")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    var pipeline: Pipeline? = try Pipeline("https://api.example", module: session.module)
    pipeline?.callbackQueue = queue
    let pipe = try #require(try pipeline?.add("files"))
    weak let gone = pipeline
    pipeline = nil
    #expect(gone == nil)
    let isThere = await withCheckedContinuation { continuation in
      pipe.read(JSONValue.self) { _ in
        continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
      }
    }
    #expect(isThere)
  }

  @Test(arguments: [400, 403, 500])
  func `a challenge that repeats the token is shown without it`(status: Int) async throws {
    let fixture = try await PipeFixture()
    fixture.session.api { request in
      let token = request.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
      let challenge = #"Bearer realm="api for \#(token)", error="access_denied""#
      return WebResponse(status: status, headers: ["WWW-Authenticate": challenge])
    }
    fixture.session.server.next(
      ScriptedTransport.json(
        #"{"access_token":"c4n4ry","token_type":"Bearer","expires_in":3600}"#))
    fixture.session.clock.advance(by: 3600)
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    let challenge = try #require(error?.refusal?.challenge)
    #expect(challenge.realm == "api for [removed]" && challenge.error == .accessDenied)
    #expect(!everyText(of: try #require(error)).contains("c4n4ry"))
  }

  // MARK: What an API demands of its user

  /// An operation that an API can refuse.
  enum Operation: CaseIterable, Sendable {
    case read, download

    func failure(_ pipe: Pipeline.Pipe) async throws -> SQOAuthError {
      let folder = try TemporaryFolder()
      let error = await pipeFailure { () async throws(PipeError) in
        switch self {
        case .read: _ = try await pipe.read()
        case .download: try await pipe.download(to: URL(filePath: folder.file("file")))
        }
      }
      let refusal = try #require(error?.refusal, "\(error as Any)")
      #expect(refusal.challenge == refusal.oauthError?.challenge)
      return try #require(refusal.oauthError, "\(refusal)")
    }
  }

  @Test(arguments: Operation.allCases)
  func `the error of a refused token leads to one sign-in for all refused operations`(
    operation: Operation
  ) async throws {
    let fixture = try await PipeFixture().answering(
      "", status: 403,
      headers: ["WWW-Authenticate": #"Bearer error="insufficient_scope", scope="demo""#])
    let errors = [
      try await operation.failure(fixture.pipe), try await operation.failure(fixture.pipe),
    ]
    let (oauth, session) = (fixture.session.oauth, fixture.session.fixture)
    for error in errors {
      #expect(error.code == .insufficientScope)
      #expect(try await oauth.requestAccess(answering: error).accessToken == "T2")
    }
    #expect(session.opened.count == 1)
    // Another user must not answer for the user of the operation.
    try await oauth.signIn()
    await failure(.sessionReplaced) { try await oauth.requestAccess(answering: errors[0]) }
  }

  @Test(arguments: [400, 404, 500])
  func `a refusal of anything but the token has no SDK error`(status: Int) async throws {
    let fixture = try await PipeFixture().answering("", status: status)
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    #expect(error?.refusal != nil && error?.refusal?.oauthError == nil)
  }

  @Test func `no text of an error shows the API's answer`() async throws {
    let fixture = try await PipeFixture().answering(
      "secret", status: 400, headers: ["WWW-Authenticate": #"Bearer error_description="T1""#])
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    let text = everyText(of: try #require(error))
    #expect(!text.contains("secret") && !text.contains("T1"), "\(text)")
    #expect(error?.description == "the API answered with status 400: Bearer challenge")
  }
}
