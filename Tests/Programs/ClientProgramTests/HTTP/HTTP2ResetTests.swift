import Foundation
import ProgramSupport
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// An HTTP/2 stream that the server resets, for example because it is overloaded.
@Suite(.timeLimit(.minutes(1))) struct HTTP2ResetTests {
  /// The error codes of RFC 9113, section 7: PROTOCOL_ERROR, INTERNAL_ERROR, CANCEL,
  /// ENHANCE_YOUR_CALM, INADEQUATE_SECURITY.
  @Test(arguments: [1, 2, 8, 11, 12] as [UInt8])
  func `the error names the reason of a stream reset`(code: UInt8) async throws {
    let server = try Self.resetting(because: code)
    defer { server.stop() }
    let error = await failure(.connectionFailed) { try await Self.post(to: server) }
    #expect(Self.names(code, error), "\(String(describing: error))")
  }

  /// An error on an idle connection must not count for the request during which it appears.
  ///
  /// libcurl checks its idle connections at the next request of any kind. Here libcurl finds a
  /// connection on which it must answer a PING, but the server has gone.
  @Test(.ownThreads)
  func `an error on an idle connection is not reported for a request on another connection`()
    async
  {
    // This runs in a separate process, because any request of the process can start libcurl's
    // check, which is due once a second by the system's clock. Nothing but the check itself shows
    // that it was due, so the test waits for a fixed time. On a busy machine the wait is only
    // longer.
    await #expect(processExitsWith: .success) {
      let answered = DispatchSemaphore(value: 0)
      let (endings, hasEnded) = AsyncStream.makeStream(of: Void.self)
      let other = try RawServer { raw in
        defer { hasEnded.finish() }
        guard let connection = HTTP2Connection(raw), let stream = connection.readRequest() else {
          return
        }
        connection.answer(stream)
        answered.wait()
        connection.ping()
        shutdown(raw.socket, Int32(SHUT_WR))
        // The server closes before it has read everything, so the client can no longer write
        // either.
      }
      try #require(try await Self.post(to: other).status == 200)
      answered.signal()
      for await _ in endings {}
      try await Task.sleep(for: .milliseconds(1500))
      let server = try Self.resetting(because: 11)
      let error = await failure(.connectionFailed) { try await Self.post(to: server) }
      try #require(Self.names(11, error), "\(String(describing: error))")
    }
  }

  private static func resetting(because code: UInt8) throws -> RawServer {
    try RawServer { raw in
      guard let connection = HTTP2Connection(raw), let stream = connection.readRequest() else {
        return
      }
      connection.reset(stream, because: code)
      while !raw.read().isEmpty {}
    }
  }

  /// Returns whether an error names the reason of the reset in libcurl's words.
  private static func names(_ code: UInt8, _ error: SQOAuthError?) -> Bool {
    (error?.cause as? CurlError)?.text.contains("(err \(code))") == true
  }

  @discardableResult
  private static func post(to server: RawServer) async throws -> WebResponse {
    let front = try await TLSFront(before: server)
    return try await front.client().send(
      WebRequest(method: "POST", url: try #require(front.url)))
  }
}
