import Basics
import Dispatch

#if canImport(Glibc)
  import CSockets
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
/// The program inherits no file and no socket of this process.
enum ChildProcess {
  /// What becomes of what the program prints.
  enum Output: Sendable {
    /// It goes to this process's standard error, so that another program can read our standard
    /// output.
    case shown
    case discarded
  }

  /// Starts a program, named by the first word, and returns when it has ended.
  ///
  /// If the caller is cancelled, the program continues. Its input is empty. Programs that it has
  /// started may go on for hours, so none of them keeps a file of this process open that another
  /// program may read to its end.
  static func run(_ words: [String], output: Output = .shown) async throws -> ProcessStatus {
    let (process, relay) = try starting.withLock { _ in try start(words, output) }
    let status = OneShot<ProcessStatus>()
    // A thread of its own waits for the child, so that no zombie stays.
    let queue = DispatchQueue(label: "SequencingOAuth.ChildProcess")
    queue.async {
      let end = wait(for: process)
      relay?.finish()
      status.resolve(end)
    }
    guard let status = await status.value() else { throw CancellationError() }
    return status
  }

  /// Keeps two programs from being started at once: one would inherit the other's new pipe.
  private static let starting = Locked(())

  private static func start(_ words: [String], _ output: Output) throws -> (pid_t, OutputRelay?) {
    guard output == .shown else { return (try spawn(words, output: nil), nil) }
    // A terminal has no end that another program waits for.
    guard isatty(2) == 0, let relay = OutputRelay() else {
      return (try spawn(words, output: 2), nil)
    }
    defer { relay.closeWriteEnd() }
    do {
      return (try spawn(words, output: relay.writeEnd), relay)
    } catch {
      relay.finish()
      throw error
    }
  }

  /// Starts a program whose output goes to a file of this process; `nil` discards it.
  private static func spawn(_ words: [String], output: Int32?) throws(SpawnError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, 1)
      posix_spawn_file_actions_adddup2(&actions, output, 2)
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    #if canImport(Glibc)
      // libcurl's sockets between its own threads are not close-on-exec.
      posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    #endif
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

/// A pipe for what a program prints, which a thread passes on to standard error while it runs.
private final class OutputRelay: Sendable {
  private let readEnd: Int32
  let writeEnd: Int32
  /// Ends the reading when the program has ended, although one that it started has the pipe open.
  private let end: [Int32]
  private let isDone = DispatchSemaphore(value: 0)

  /// Opens the pipe and starts the thread; `nil` if the system has no file or thread to give.
  init?() {
    guard let pipe = Self.pipe() else { return nil }
    guard let end = Self.pipe() else {
      pipe.forEach { close($0) }
      return nil
    }
    readEnd = pipe[0]
    writeEnd = pipe[1]
    self.end = end
    guard Threads.start({ self.passOn() }) else {
      (pipe + end).forEach { close($0) }
      return nil
    }
  }

  /// Closes the program's end here, once the program has it.
  func closeWriteEnd() {
    close(writeEnd)
  }

  /// Passes on what has come so far, and ends the reading.
  func finish() {
    close(end[1])
    isDone.wait()
  }

  private func passOn() {
    // If nobody reads our standard error any more, that must not end this process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
    var hasEnded = false
    while !hasEnded {
      var files = [
        pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: end[0], events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&files, 2, -1) > 0 else {
        if errno == EINTR { continue }
        break
      }
      hasEnded = files[1].revents != 0 || !copyAll()
    }
    _ = copyAll()
    close(readEnd)
    close(end[0])
    isDone.signal()
  }

  /// Passes on what is in the pipe; returns `false` at its end.
  private func copyAll() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = read(readEnd, buffer.baseAddress, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        _ = write(2, buffer.baseAddress, count)
      }
    }
  }

  /// The two ends of a pipe; no program that is started later inherits them.
  private static func pipe() -> [Int32]? {
    var ends: [Int32] = [-1, -1]
    #if canImport(Glibc)
      guard Glibc.pipe(&ends) == 0 else { return nil }
    #else
      guard Darwin.pipe(&ends) == 0 else { return nil }
    #endif
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }
}
