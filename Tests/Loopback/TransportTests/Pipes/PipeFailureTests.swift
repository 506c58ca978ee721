import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Failures at a server.
///
/// Each is reported once with its cause and leaves nothing behind.
@Suite("End to end: a pipe's failures", .timeLimit(.minutes(1))) struct PipeFailureTests {
  typealias File = DriveFixture.File

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
  func `a failure throws the matching error, a POST is not repeated, and the next call works`(
    row: Row
  ) async throws {
    var configuration = PipeConfiguration()
    configuration.maximumResponseBytes = 20_000
    let drive = try await DriveFixture(configuration)
    // The transport may repeat a GET whose connection breaks. So only the requests of the POST are
    // counted below.
    drive.sandbox.misbehave(at: .driveFiles, row.misbehaviour, times: nil)
    let read = await pipeFailure { () async throws(PipeError) in
      _ = try await drive.files.read(DriveFixture.List.self)
    }
    #expect(read.map(row.isExpected) == true, "\(String(describing: read))")
    #expect(read.map { everyText(of: $0).contains("C4N4RY") } == false)
    drive.sandbox.forgetRequests()
    let save = await pipeFailure { () async throws(PipeError) in
      _ = try await drive.files.save(File(title: "t"), returning: DriveFixture.List.self)
    }
    #expect(save.map(row.isExpected) == true, "\(String(describing: save))")
    #expect(drive.asked == ["POST /drive/v2/files"], "the POST was sent once, and nothing else was")
    drive.sandbox.behave()
    #expect(try await drive.files.read(DriveFixture.List.self).items.count >= 5)
    #expect(drive.module.isAuthorized)
  }

  @Test func `the error for a missing file has the API's message`() async throws {
    let drive = try await DriveFixture()
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

  /// Creates a drive with a time limit that is short, but long enough for a busy machine.
  private func impatientDrive() async throws -> DriveFixture {
    var configuration = PipeConfiguration()
    configuration.timeout = .seconds(10)
    return try await DriveFixture(configuration)
  }

  @Test func `a request without an answer times out, and its connection is closed`() async throws {
    let drive = try await impatientDrive()
    let hold = HeldAnswer()
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

  @Test func `an upload that the server stops reading times out`() async throws {
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
}
