import Dispatch
import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport

/// A server that sends a body byte by byte, with a pause after each byte.
///
/// No real time passes: each byte that the client receives advances the client's clock.
final class DrippingServer: Sendable {
  private let server: RawServer
  private let count: Int
  private let pause: Duration
  private let time: TimeLead
  private let mayGoOn = DispatchSemaphore(value: 0)
  private let received = Locked(Int64(0))

  /// Creates a server that sends `count` bytes.
  ///
  /// Two pauses may pass between two bytes: the client may read a byte before its clock is advanced
  /// for the previous byte.
  init(_ count: Int, after pause: Duration, on time: TimeLead) throws {
    self.count = count
    self.pause = pause
    self.time = time
    server = try RawServer { [mayGoOn] connection in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
      for _ in 0..<count {
        connection.write("x")
        mayGoOn.wait()
      }
    }
  }

  /// Returns a request whose progress closure lets the server send the next byte.
  func request() throws -> WebRequest {
    var request = WebRequest(
      url: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
    request.progress = { [self] progress in
      let isNew = received.withLock { received in
        defer { received = progress.received }
        return progress.received > received
      }
      guard isNew else { return }
      time.advance(by: pause)
      mayGoOn.signal()
    }
    return request
  }

  /// Stops the server, even if its client has left.
  func stop() {
    for _ in 0..<count { mayGoOn.signal() }
    server.stop()
  }
}
