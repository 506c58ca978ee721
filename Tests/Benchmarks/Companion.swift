import CSQCurl
import CSQSockets
import Glibc

/// A second process, with a socket to this one as its standard input and output.
///
/// The companion must end when its input ends. The input also ends if this process dies.
struct Companion {
  /// This process's end of the socket.
  let socket: Int32
  /// The command, for error messages.
  private let command: String
  private let process: pid_t

  /// Starts a program.
  ///
  /// `/proc/self/exe` is this program itself.
  init(_ path: String, _ arguments: [String] = []) throws {
    // If a companion inherited another companion's socket, closing the socket would not end the
    // other companion.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw BenchmarkError("no socket pair") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    var process = pid_t()
    let command = ([path] + arguments).joined(separator: " ")
    let arguments = ([path] + arguments).map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    let code = posix_spawn(&process, path, &actions, nil, arguments, environ)
    close(ends[1])
    guard code == 0 else {
      close(ends[0])
      throw BenchmarkError("\(path) did not start: \(String(cString: strerror(code)))")
    }
    // A companion answers within seconds or never.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    socket = ends[0]
    self.command = command
    self.process = process
  }

  func write(_ bytes: [UInt8]) throws {
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw BenchmarkError("\(command) has ended")
    }
  }

  /// Waits for the next bytes, up to a length.
  func read(atMost length: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: length)
    let count = recv(socket, &bytes, length, 0)
    guard count > 0 else { throw BenchmarkError("\(command) gave no answer") }
    return Array(bytes.prefix(count))
  }

  func stop() {
    close(socket)
    waitpid(process, nil, 0)
  }
}

/// The reason why a benchmark could not run.
struct BenchmarkError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}
