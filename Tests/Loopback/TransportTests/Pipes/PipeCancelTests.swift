import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Cancelled pipe operations at a server.
///
/// They leave nothing behind and cancel no other operation.
@Suite("End to end: cancelling a pipe", .timeLimit(.minutes(1))) struct PipeCancelTests {
  enum Way: CaseIterable {
    case pipe, task
  }

  /// Cancels a running operation through its pipe or its task.
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
      Issue.record("the operation was not cancelled")
      return
    }
  }

  @Test(arguments: Way.allCases)
  func `a cancelled read closes its connection, and the next read works`(way: Way) async throws {
    let drive = try await DriveFixture()
    let hold = HeldAnswer()
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
  func `a cancelled upload closes its connection, and the next upload works`(
    way: Way
  ) async throws {
    let drive = try await DriveFixture()
    let server = ReadingServer()
    let pipeline = try Pipeline(server.start(), module: drive.module)
    let endless = try pipeline.add("files")
    let isLetGo = Locked(false)
    try await end(way, endless) {
      try await eventually("the upload is under way") { server.receivedBytes > 1_000_000 }
    } _: { () async throws(PipeError) in
      try await endless.upload([
        .stream("file", filename: "f") {
          let guardian = Guardian { isLetGo.withLock { $0 = true } }
          return { guardian.chunk }
        }
      ])
    }
    try await eventually("the server sees the end of the connection") { server.hasEnded }
    try await eventually("the upload releases its stream") { isLetGo.withLock(\.self) }
    server.stop()
    try await drive.uploads.upload([.data("file", pattern(10), filename: "f")])
    #expect(drive.sandbox.files().count == 6)
  }

  @Test(arguments: Way.allCases)
  func `a cancelled download closes its connection, and the next download works`(
    way: Way
  ) async throws {
    let drive = try await DriveFixture()
    let folder = try TemporaryFolder()
    let destination = URL(filePath: folder.file("f"))
    let id = drive.sandbox.addFile("f", content: pattern(1000)).id
    let hold = HeldAnswer()
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

  @Test func `a progress closure can cancel its upload`() async throws {
    let drive = try await DriveFixture()
    // The server leaves the body unread. Otherwise the upload could end before the progress closure
    // cancels it, because the upload does not wait for the closure.
    let hold = HeldAnswer()
    drive.sandbox.misbehave(at: .driveUpload, .unread(hold.misbehaviour))
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

  @Test func `a cancelled operation ends the sign-in that it started`() async throws {
    let drive = try await DriveFixture(isSignedIn: false)
    let page = HeldAnswer()
    // The held first request for the sign-in page ends with an error. Otherwise the user would sign
    // in in two browser tabs at the same time.
    drive.sandbox.misbehave(at: .authorization, page.misbehaviour(then: .status(500)))
    let error = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await drive.files.read() }
    }
    _ = try await drive.sandbox.requests(to: .authorization, atLeast: 1)
    #expect(drive.fixture.oauth.isSigningIn)
    drive.files.cancel()
    guard case .cancelled? = try await error.value else {
      Issue.record("the operation was not cancelled")
      return
    }
    try await eventually("the sign-in is over") { !drive.fixture.oauth.isSigningIn }
    page.release()
    _ = try await drive.files.read()
    #expect(drive.sandbox.requests(to: .driveFiles).count == 1)
  }

  @Test func `a cancelled operation does not cancel the refresh of other callers`() async throws {
    let drive = try await DriveFixture()
    let hold = HeldAnswer()
    drive.sandbox.misbehave(at: .token, hold.misbehaviour)
    drive.fixture.clock.advance(by: 3600)
    let cancelled = begin { () -> PipeError? in
      await pipeFailure { () async throws(PipeError) in try await drive.uploads.read() }
    }
    let other = begin { try await drive.files.read() }
    _ = try await drive.sandbox.requests(to: .token, atLeast: 1)
    drive.uploads.cancel()
    guard case .cancelled? = try await cancelled.value else {
      Issue.record("the operation was not cancelled")
      return
    }
    hold.release()
    _ = try await other.value
    #expect(drive.asked == ["POST /token refresh_token", "GET /drive/v2/files"])
  }

  @Test func `the completion of a cancelled operation is called once`() async throws {
    let drive = try await DriveFixture()
    let hold = HeldAnswer()
    drive.sandbox.misbehave(at: .driveFiles, hold.misbehaviour, times: nil)
    let calls = Locked<[PipeError?]>([])
    for _ in 0..<20 {
      drive.files.read(JSONValue.self) { result in calls.withLock { $0.append(result.error) } }
    }
    _ = try await drive.sandbox.requests(to: .driveFiles, atLeast: 20)
    drive.files.cancel()
    drive.files.cancel()
    try await eventually("all completions are called") { calls.withLock(\.count) >= 20 }
    hold.release()
    drive.sandbox.behave()
    _ = try await drive.files.read()
    drive.pipeline.callbackQueue.sync {}
    let errors = calls.withLock(\.self)
    #expect(errors.count == 20)
    let others = errors.filter { if case .cancelled? = $0 { false } else { true } }
    #expect(others.isEmpty)
  }
}
