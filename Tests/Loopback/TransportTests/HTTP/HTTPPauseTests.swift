import Foundation
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Responses that libcurl reads no further until the app has consumed a part of them.
@Suite(.timeLimit(.minutes(1))) struct HTTPPauseTests {
  /// libcurl delivers the content that it kept before it returns from the call that ends the pause.
  @Test func `content beyond the size limit that libcurl kept during a pause ends the request`()
    async throws
  {
    let isFull = DispatchSemaphore(value: 0)
    let server = try RawServer { connection in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n")
      connection.write([UInt8](repeating: 120, count: DownloadQueue.limit))
      isFull.wait()
      // libcurl reads these bytes at once, and passes them on in pieces of 16 KiB. The queue takes
      // none, and the size limit allows one.
      connection.write([UInt8](repeating: 120, count: 40_000))
      // Only the client ends the connection.
      while !connection.read().isEmpty {}
    }
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    var request = WebRequest(url: url)
    request.timeout = nil
    request.idleTimeout = nil
    request.maximumResponseBytes = Int64(DownloadQueue.limit) + 16 * 1024
    request.progress = { if $0.received == DownloadQueue.limit { isFull.signal() } }
    request.destination = .stream { _, data in
      guard data.isEmpty else { return }
      try await eventually("libcurl reads no more") {
        try HTTPStreamTests.transfer(to: url) { $0.clock.isWaitingForReader } == true
      }
    }
    let error = await failure(.responseTooLarge) { [request] in
      try await CurlTransport().send(request)
    }
    #expect(error?.status == 200)
  }
}
