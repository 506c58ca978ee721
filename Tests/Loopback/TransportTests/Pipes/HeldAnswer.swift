import Foundation
import OAuthSandbox
import SQBasics

@testable import LoopbackSupport
@testable import TestSupport

/// An answer that a test holds back and that knows when its client has left.
final class HeldAnswer: Sendable {
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

/// A server that reads from its client until the client leaves, and never answers.
final class ReadingServer: Sendable {
  private let received = Locked(0)
  private let ended = Locked(false)
  private let server = Locked<RawServer?>(nil)

  var receivedBytes: Int { received.withLock(\.self) }
  var hasEnded: Bool { ended.withLock(\.self) }

  /// Starts the server and returns its URL.
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

/// An object that reports when its last reference is released.
final class Guardian: Sendable {
  let chunk = Data(repeating: 7, count: 50_000)
  private let onEnd: @Sendable () -> Void

  init(_ onEnd: @escaping @Sendable () -> Void) {
    self.onEnd = onEnd
  }

  deinit {
    onEnd()
  }
}
