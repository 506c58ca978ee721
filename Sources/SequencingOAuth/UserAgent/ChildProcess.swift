import Basics
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How a child process ended: by its own exit or by a signal.
enum ProcessStatus: Sendable, Hashable, CustomStringConvertible {
  case exited(Int32)
  case killed(signal: Int32)

  var description: String {
    switch self {
    case .exited(let status): "ended with status \(status)"
    case .killed(let signal): "was ended by signal \(signal)"
    }
  }
}

/// The system's reason why a program could not be started.
struct SpawnError: Error, CustomStringConvertible {
  let errno: Int32
  var description: String { String(cString: strerror(errno)) }
}

/// Runs a program without a shell.
///
/// All files and sockets of the SDK are close-on-exec, so the program inherits none of them.
enum ChildProcess {
  /// Starts a program, named by the first word, and returns when it has ended.
  ///
  /// If the caller is cancelled, the program continues. Its input is empty. Its output goes to this
  /// process's standard error, so that another program can read our standard output.
  static func run(_ words: [String]) async throws -> ProcessStatus {
    let process = try spawn(words)
    let status = OneShot<ProcessStatus>()
    // A thread of its own waits for the child, so that no zombie stays.
    let queue = DispatchQueue(label: "SequencingOAuth.ChildProcess")
    queue.async { status.resolve(wait(for: process)) }
    guard let status = await status.value() else { throw CancellationError() }
    return status
  }

  private static func spawn(_ words: [String]) throws(SpawnError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, 2, 1)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    let result = posix_spawnp(&process, words[0], &actions, nil, arguments, environ)
    guard result == 0 else { throw SpawnError(errno: result) }
    return process
  }

  private static func wait(for process: pid_t) -> ProcessStatus {
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1 {
      // If the app itself waits for all children, this one's status is lost: the program did run.
      guard errno == EINTR else { return .exited(0) }
    }
    let signal = status & 0x7F
    return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
  }
}
