import CCurl
import FoundationEssentials
import Glibc

/// A server that answers every request with the same 1 KB, in a process of its own.
///
/// It is one epoll loop that reads no more of a request than where it ends, so that the client is
/// what is measured: it serves several times what any client here asks for.
struct ByteServer {
  let process: pid_t
  let port: UInt16
  /// The server ends when this end of it is closed, be it by our death.
  private let lifeline: Int32

  /// Starts this program again as the server.
  init() throws {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw BenchmarkError("no socket pair")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    defer { posix_spawn_file_actions_destroy(&actions) }
    var process = pid_t()
    let arguments = [strdup("benchmarks"), strdup(Self.argument), nil]
    defer { arguments.forEach { free($0) } }
    guard posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments, environ) == 0 else {
      throw BenchmarkError("the server did not start")
    }
    close(ends[1])
    var port: UInt16 = 0
    let count = withUnsafeMutableBytes(of: &port) { read(ends[0], $0.baseAddress, $0.count) }
    lifeline = ends[0]
    guard count == 2 else { throw BenchmarkError("the server did not say its port") }
    self.process = process
    self.port = port
  }

  /// Where it answers.
  var url: URL {
    get throws {
      guard let url = URL(string: "http://127.0.0.1:\(port)/data?page=1") else {
        throw BenchmarkError("no URL")
      }
      return url
    }
  }

  func stop() {
    close(lifeline)
    waitpid(process, nil, 0)
  }

  // MARK: In the server's process

  static let argument = "--serve"

  static let answer =
    [UInt8]("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n\r\n".utf8)
    + [UInt8](repeating: UInt8(ascii: "x"), count: 1024)

  static func serve() -> Never {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, size)
        _ = listen(listener, 1024)
        _ = getsockname(listener, $0, &size)
      }
    }
    var port = UInt16(bigEndian: address.sin_port)
    _ = withUnsafeBytes(of: &port) { write(0, $0.baseAddress, $0.count) }
    let poller = epoll_create1(0)
    watch(poller, listener)
    watch(poller, 0)
    var events = [epoll_event](repeating: epoll_event(), count: 128)
    while true {
      let count = epoll_wait(poller, &events, 128, -1)
      for event in events.prefix(Int(max(0, count))) {
        if event.data.fd == 0 { exit(0) }
        if event.data.fd == listener {
          let socket = accept(listener, nil, nil)
          var on: Int32 = 1
          setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
          watch(poller, socket)
        } else {
          answerRequest(event.data.fd)
        }
      }
    }
  }

  /// A request of the benchmarks arrives whole, and its method or its end tells where it ends.
  private static func answerRequest(_ socket: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
      let count = recv(socket, buffer.baseAddress, buffer.count, 0)
      guard count > 0 else {
        close(socket)
        return
      }
      _ = answer.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
    }
  }

  private static func watch(_ poller: Int32, _ socket: Int32) {
    var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: socket))
    epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event)
  }
}

/// Why a benchmark could not run.
struct BenchmarkError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}
