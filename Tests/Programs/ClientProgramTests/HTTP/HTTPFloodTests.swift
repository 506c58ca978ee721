import Foundation
import ProgramSupport
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// A server that sends HTTP/2 frames without end, each allowed on its own.
///
/// - SeeAlso: RFC 9113, section 10.5
@Suite(.timeLimit(.minutes(2)), .requires(ProgramRequirement(programs: ["openssl", "python3"])))
struct HTTPFloodTests {
  /// A frame without content that the server repeats without end.
  struct Flood: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: HTTP2Connection.FrameType
    var flags: UInt8 = 0
    var stream: UInt8 = 0
    var payload: [UInt8] = []
    var comesBeforeHead = false
  }

  static let floods = [
    Flood(testDescription: "empty DATA", type: .data, stream: 1),
    Flood(testDescription: "padding", type: .data, flags: 8, stream: 1, payload: [1, 0]),
    Flood(testDescription: "WINDOW_UPDATE", type: .windowUpdate, payload: [0, 0, 0, 1]),
    Flood(
      testDescription: "WINDOW_UPDATE before the head", type: .windowUpdate,
      payload: [0, 0, 0, 1], comesBeforeHead: true),
    Flood(
      testDescription: "answers to PING", type: .ping, flags: 1,
      payload: [UInt8](repeating: 0, count: 8)),
    Flood(testDescription: "unknown frames", type: .unknown, stream: 1, payload: [1, 2, 3]),
  ]

  @Test(arguments: floods)
  func `a request fails if the server sends endless HTTP/2 frames without content`(flood: Flood)
    async throws
  {
    let server = try Self.flooding(flood)
    defer { server.stop() }
    let front = try await TLSFront(before: server)
    var request = WebRequest(url: try #require(front.url))
    request.timeout = nil
    request.idleTimeout = nil
    let error = await failure(.responseTooLarge) { [request] in
      try await front.client().send(request)
    }
    #expect(error?.message.contains("far more bytes than the content") == true)
  }

  /// Creates a server that floods its only connection before or after the head of its answer.
  private static func flooding(_ flood: Flood) throws -> RawServer {
    try RawServer { raw in
      guard let connection = HTTP2Connection(raw), let stream = connection.readRequest() else {
        return
      }
      if !flood.comesBeforeHead { connection.begin(stream) }
      connection.flood(flood.type, flags: flood.flags, stream: flood.stream, flood.payload)
    }
  }
}
