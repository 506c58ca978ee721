import Foundation

/// A client's connection through a relay: two sockets, and the bytes between them.
///
/// A thread may use a connection only while it holds the relay's lock.
final class RelayConnection {
  /// The traffic in one direction, from one socket to the other.
  struct Flow {
    var pending: [UInt8] = []
    var hasEnded = false
    var isFinished = false
  }

  let client: Int32
  /// The socket to the server; negative until the relay connects to the server.
  private(set) var server: Int32 = -1
  private(set) var requests = Flow()
  private(set) var answers = Flow()
  /// Whether the client has sent something since the last answer.
  private var isAsking = false
  private var losesAnswer = false
  /// The number of bytes that the client may still get.
  private var answerAllowance: Int

  init(client: Int32, answerLimit: Int) {
    self.client = client
    answerAllowance = answerLimit
    Self.prepare(client)
  }

  /// Whether nothing more can pass in either direction.
  var isFinished: Bool { requests.isFinished && (answers.isFinished || isSilenced) }

  /// Whether the client has got all that it may get.
  private var isSilenced: Bool { answerAllowance == 0 }

  /// Whether the client has closed its socket, even if the relay has not passed on all of its
  /// bytes.
  var isLeft: Bool {
    // 0x2000 is POLLRDHUP, which Swift does not import: the client has closed its side.
    var socket = pollfd(fd: client, events: 0x2000, revents: 0)
    return poll(&socket, 1, 0) > 0
  }

  /// Connects to the server unless that happened before, or throws if the server refuses.
  func connect(to port: UInt16) throws {
    guard server < 0 else { return }
    server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    // The socket is made non-blocking first, because a server that is stopped must not block the
    // relay.
    Self.prepare(server)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 || errno == EINPROGRESS else { throw RelayError() }
  }

  /// Moves the bytes that can be moved without waiting, and returns the counts of written bytes.
  ///
  /// A new request may meet the fault. The method then throws at once, throws when the answer
  /// arrives, or stops all traffic.
  func move(
    _ traffic: inout TCPRelay.Traffic, _ fault: inout RelayFault
  ) throws -> (toServer: Int, toClient: Int) {
    guard server >= 0 else { return (0, 0) }
    var toServer = 0
    if traffic != .nothing {
      let hasRequest = try Self.receive(&requests, from: client)
      if hasRequest, !isAsking {
        isAsking = true
        switch fault.next() {
        case .requestIsLost: throw RelayError()
        case .answerIsLost: losesAnswer = true
        case .requestWaits: traffic = .nothing
        case nil: break
        }
      }
      // Without a pending request, `Self.move` must not run: it could receive a request that was
      // not counted.
      if traffic != .nothing, hasRequest || requests.hasEnded {
        toServer = try Self.move(&requests, from: client, to: server)
      }
    }
    guard traffic == .all, !isSilenced else { return (toServer, 0) }
    if losesAnswer {
      if try Self.receive(&answers, from: server) { throw RelayError() }
      return (toServer, 0)
    }
    let toClient = try Self.move(&answers, from: server, to: client, atMost: answerAllowance)
    answerAllowance -= toClient
    if toClient > 0 { isAsking = false }
    return (toServer, toClient)
  }

  /// Returns the events for which the relay must wait on the two sockets.
  func events(_ traffic: TCPRelay.Traffic) -> [pollfd] {
    var events = (client: Int32(0), server: Int32(0))
    if server >= 0, traffic != .nothing {
      if !requests.pending.isEmpty {
        events.server |= POLLOUT
      } else if !requests.hasEnded {
        events.client |= POLLIN
      }
    }
    if server >= 0, traffic == .all, !isSilenced {
      if !answers.pending.isEmpty {
        events.client |= POLLOUT
      } else if !answers.hasEnded {
        events.server |= POLLIN
      }
    }
    // A socket without events is left out, because its end would be reported again and again.
    return [(client, events.client), (server, events.server)].filter { $0.1 != 0 }
      .map { pollfd(fd: $0.0, events: Int16($0.1), revents: 0) }
  }

  /// Closes both sockets normally.
  func close() {
    Glibc.close(client)
    if server >= 0 { Glibc.close(server) }
  }

  /// Closes both sockets with a reset.
  func reset() {
    // Connecting to AF_UNSPEC resets a socket at once. A close with SO_LINGER would not do so while
    // the relay's thread polls the socket.
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    for socket in [client, server] where socket >= 0 {
      Glibc.connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }
    close()
  }

  /// Receives bytes unless some are pending, and returns whether some are pending now.
  private static func receive(_ flow: inout Flow, from socket: Int32) throws -> Bool {
    guard flow.pending.isEmpty, !flow.hasEnded else { return !flow.pending.isEmpty }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let received = recv(socket, &buffer, buffer.count, 0)
    if received < 0 { return try !waits() }
    flow.pending = Array(buffer[..<received])
    flow.hasEnded = received == 0
    return received > 0
  }

  private static func move(
    _ flow: inout Flow, from: Int32, to: Int32, atMost limit: Int = .max
  ) throws -> Int {
    var count = 0
    // The number of rounds is limited, because the caller holds the lock.
    for _ in 0..<8 where !flow.isFinished && count < limit {
      if flow.pending.isEmpty, !flow.hasEnded, try !receive(&flow, from: from), !flow.hasEnded {
        return count
      }
      if !flow.pending.isEmpty {
        let size = min(flow.pending.count, limit - count)
        let sent = send(to, flow.pending, size, Int32(MSG_NOSIGNAL))
        if sent < 0 { return try waits() ? count : 0 }
        flow.pending.removeFirst(sent)
        count += sent
      }
      if flow.pending.isEmpty, flow.hasEnded {
        shutdown(to, Int32(SHUT_WR))
        flow.isFinished = true
      }
    }
    return count
  }

  /// Returns `true` if the failed system call must be repeated later.
  ///
  /// Throws if the connection is broken.
  private static func waits() throws -> Bool {
    guard errno == EAGAIN || errno == EINTR else { throw RelayError() }
    return true
  }

  private static func prepare(_ socket: Int32) {
    var yes: Int32 = 1
    setsockopt(
      socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
  }
}

/// The error that makes the relay reset a connection: a socket is broken, or a test has asked for a
/// fault.
struct RelayError: Error {}
