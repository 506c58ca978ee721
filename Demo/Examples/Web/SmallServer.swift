import Foundation

/// A minimal HTTP/1.1 server for this example.
struct SmallServer {
  typealias App = @Sendable (Request, inout Session) async -> Response

  private struct Unusable: Error, CustomStringConvertible {
    let description: String
  }

  private static let timeout = timeval(tv_sec: 10, tv_usec: 0)
  private static let longest = 1 << 16
  private let socket: Int32
  private let sessions: Sessions
  private let cookies: Cookies

  /// Listens on a port of this machine that several processes can share.
  init(port: UInt16, sessions: Sessions, cookies: Cookies) throws {
    (self.sessions, self.cookies) = (sessions, cookies)
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isBound, listen(socket, 128) == 0 else {
      throw Unusable(
        description: "port \(port) cannot be used: \(String(cString: strerror(errno)))")
    }
  }

  /// Answers requests forever, each with its browser's session.
  ///
  /// A thread reads each request and another one writes its answer, because both calls block. In
  /// between, a task makes the answer.
  func run(_ app: @escaping App) -> Never {
    signal(SIGPIPE, SIG_IGN)
    while true {
      let connection = accept(socket, nil, nil)
      guard connection >= 0 else {
        // Without a free descriptor, the next call would fail at once too.
        usleep(100_000)
        continue
      }
      Thread.detachNewThread { [sessions, cookies] in
        guard let request = Self.read(connection) else {
          _ = close(connection)
          return
        }
        Task {
          let response = await Self.answer(request, sessions, cookies, app)
          Thread.detachNewThread {
            Self.write(response, to: connection)
            _ = close(connection)
          }
        }
      }
    }
  }

  /// Writes a line at once, unlike `print` into a file or a pipe.
  static func log(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }

  private static func answer(
    _ request: Request, _ sessions: Sessions, _ cookies: Cookies, _ app: App
  ) async -> Response {
    var session = sessions.session(request.cookies[cookies.session])
    var response = await app(request, &session)
    do {
      try sessions.keep(session)
      if session.isChanged, session.id != session.oldID {
        response.set(cookies.session, to: session.id, cookies)
      }
    } catch {
      response = .page(500, "Something went wrong", "Please try again.")
    }
    return response
  }

  private static func read(_ connection: Int32) -> Request? {
    var timeout = timeout
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(connection, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }
    var (received, bytes) = (Data(), [UInt8](repeating: 0, count: 1 << 12))
    while received.count < longest {
      let count = recv(connection, &bytes, bytes.count, 0)
      guard count > 0 else { return nil }
      received.append(contentsOf: bytes.prefix(count))
      guard let end = received.firstRange(of: Data("\r\n\r\n".utf8)) else { continue }
      // A browser sends a head in ASCII, and other texts can take long to compare.
      guard received[..<end.lowerBound].allSatisfy({ $0 < 0x80 }) else { return nil }
      let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
      let body = Data(received[end.upperBound...])
      guard body.count >= Request.bodyLength(head: head) else { continue }
      return Request(head: head, body: body)
    }
    return nil
  }

  private static func write(_ response: Response, to connection: Int32) {
    var rest = Array(response.bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
