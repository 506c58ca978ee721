import Foundation
import SQBasics
package import TestSupport

/// A socket at the address of a D-Bus session bus; the peer behind it does not behave as a bus.
package final class OddBus: Sendable {
  /// The peer's behaviour on each connection.
  package enum Habit: CaseIterable, Sendable {
    case silent, garbage, closing
    /// The peer completes the handshake, and answers no message.
    case silentAfterHandshake
  }

  /// The peer's sockets, which are closed when neither the peer nor its threads use them any more.
  private final class Sockets: Sendable {
    private struct State {
      var connections: [Int32] = []
      var isOver = false
    }

    let listener: Int32
    private let state = Locked(State())

    init(listener: Int32) {
      self.listener = listener
    }

    deinit {
      for socket in [listener] + state.withLock(\.connections) { close(socket) }
    }

    var count: Int { state.withLock(\.connections.count) }

    /// Adds an accepted connection; returns `false` after ``end()``.
    func add(_ connection: Int32) -> Bool {
      state.withLock { state in
        state.connections.append(connection)
        return !state.isOver
      }
    }

    /// Ends all connections, and wakes the threads that wait for bytes or for another connection.
    func end() {
      let connections = state.withLock { state in
        state.isOver = true
        return state.connections
      }
      for socket in [listener] + connections { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// The value of `DBUS_SESSION_BUS_ADDRESS` for this peer.
  package let address: String
  private let sockets: Sockets

  /// Listens in a folder until ``stop()``, or until the last reference is released.
  package init(_ habit: Habit, in folder: TemporaryFolder) throws {
    let path = folder.file("bus")
    address = "unix:path=\(path)"
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let sockets = Sockets(listener: listener)
    self.sockets = sockets
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard listener >= 0, isBound == 0, listen(listener, 16) == 0 else {
      throw SystemCallFailed(message: "cannot listen at \(path)")
    }
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0, sockets.add(connection) else { break }
        Thread.detachNewThread {
          withExtendedLifetime(sockets) { Self.serve(connection, habit) }
        }
      }
    }
  }

  deinit {
    stop()
  }

  /// The number of accepted connections.
  package var count: Int { sockets.count }

  /// Ends all connections.
  package func stop() { sockets.end() }

  private static func serve(_ connection: Int32, _ habit: Habit) {
    switch habit {
    case .silent: break
    case .closing: shutdown(connection, Int32(SHUT_RDWR))
    case .garbage: say("\u{0}garbage\r\n\u{7F}\r\n", to: connection)
    case .silentAfterHandshake: answerHandshake(connection)
    }
  }

  /// Answers as a bus does until the client may send its first message.
  private static func answerHandshake(_ connection: Int32) {
    var heard = ""
    var bytes = [UInt8](repeating: 0, count: 1024)
    while true {
      let count = read(connection, &bytes, bytes.count)
      guard count > 0 else { return }
      heard += String(decoding: bytes[..<count], as: UTF8.self)
      while let end = heard.firstRange(of: "\r\n") {
        let line = heard[..<end.lowerBound].drop { $0 == "\0" }
        heard.removeSubrange(..<end.upperBound)
        switch line {
        case "AUTH": say("REJECTED EXTERNAL\r\n", to: connection)
        case _ where line.hasPrefix("AUTH EXTERNAL"):
          say("OK 0123456789abcdef0123456789abcdef\r\n", to: connection)
        case "NEGOTIATE_UNIX_FD": say("AGREE_UNIX_FD\r\n", to: connection)
        case "BEGIN": return
        default: say("ERROR\r\n", to: connection)
        }
      }
    }
  }

  private static func say(_ text: String, to connection: Int32) {
    _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
  }
}
