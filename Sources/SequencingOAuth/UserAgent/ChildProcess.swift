import CSQSockets
import Dispatch
import SQBasics
import SQFoundation
import SQLibC

/// The end of a child process, either by its own exit or by a signal.
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

/// The system's error for a program that could not be started.
struct SpawnError: Error, CustomStringConvertible {
  let errno: Int32
  var description: String { CLibrary.meaning(of: errno) }
}

/// A started program, both while it runs and after it has ended.
final class RunningProcess: Sendable {
  /// The signals that end a program.
  enum Signal: Sendable {
    /// The signal SIGTERM, after which the program can still clean up.
    case terminate
    case kill
  }

  /// The status of the program, which is set when the program has ended.
  let status = OneShot<ProcessStatus>()
  private let process: pid_t
  /// Whether the system may reuse the process's number.
  private let isForgotten = Locked(false)

  fileprivate init(_ process: pid_t, _ relay: OutputRelay?) {
    self.process = process
    // A separate thread waits for the child, so that it does not remain as a zombie.
    let queue = DispatchQueue(label: "SequencingOAuth.ChildProcess")
    queue.async {
      self.waitForEnd()
      let end = self.isForgotten.withLock { isForgotten in
        isForgotten = true
        return Self.collect(process)
      }
      relay?.finish()
      self.status.resolve(end)
    }
  }

  /// Sends a signal, unless the program has ended.
  func send(_ signal: Signal) {
    isForgotten.withLock { isForgotten in
      guard !isForgotten else { return }
      kill(process, signal == .kill ? SIGKILL : SIGTERM)
    }
  }

  /// Waits until the program has ended, but does not collect its status yet.
  private func waitForEnd() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
  }

  private static func collect(_ process: pid_t) -> ProcessStatus {
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1 {
      // If the app itself waits for all children, this child's status is lost, but the program did
      // run.
      guard errno == EINTR else { return .exited(0) }
    }
    let signal = status & 0x7F
    return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
  }
}

/// A launcher of programs, without a shell.
///
/// The program inherits no files and sockets of this process except its own streams.
enum ChildProcess {
  /// The input and the output of the program.
  enum Streams: Sendable {
    /// The input is empty, and the output goes to this process's standard error.
    ///
    /// The output must not go to standard output, because another program may read that.
    case shown
    /// No input, no output, and no access to this process's terminal, not even by name.
    case detached
    /// The input comes from the terminal's keyboard, and the output goes to the terminal.
    case terminal(ProgramTerminal)
  }

  /// Starts the program named by the first word.
  ///
  /// The program may itself start other programs, and they may run for hours. So none of them may
  /// keep a file of this process open, because another program may wait for the end of that file.
  static func start(
    _ words: [String], _ streams: Streams = .shown, environment changes: [String: String] = [:]
  ) throws(SpawnError) -> RunningProcess {
    let started: Result<(pid_t, OutputRelay?), SpawnError> = starting.withLock { _ in
      Result { () throws(SpawnError) in try startAlone(words, streams, changes) }
    }
    let (process, relay) = try started.get()
    return RunningProcess(process, relay)
  }

  /// A lock that serializes starts, so that no program inherits a pipe made for another program.
  private static let starting = Locked(())

  private static func startAlone(
    _ words: [String], _ streams: Streams, _ changes: [String: String]
  ) throws(SpawnError) -> (pid_t, OutputRelay?) {
    // If standard error is a terminal, no relay is needed: no program waits for a terminal's end.
    guard case .shown = streams, isatty(2) == 0, let relay = OutputRelay() else {
      return (try spawn(words, streams, output: 2, changes), nil)
    }
    defer { relay.closeWriteEnd() }
    do throws(SpawnError) {
      return (try spawn(words, streams, output: relay.writeEnd, changes), relay)
    } catch {
      relay.finish()
      throw error
    }
  }

  private static func spawn(
    _ words: [String], _ streams: Streams, output: Int32, _ changes: [String: String]
  ) throws(SpawnError) -> pid_t {
    var spawning = sq_spawning()
    posix_spawn_file_actions_init(&spawning.files)
    defer { posix_spawn_file_actions_destroy(&spawning.files) }
    connect(&spawning, streams, output)
    #if canImport(Glibc)
      // libcurl's sockets between its own threads are not close-on-exec.
      posix_spawn_file_actions_addclosefrom_np(&spawning.files, 3)
    #endif
    posix_spawnattr_init(&spawning.attributes)
    defer { posix_spawnattr_destroy(&spawning.attributes) }
    restoreSignals(&spawning, streams)
    var arguments = copies(of: words)
    var variables = variables(changes)
    defer { (arguments + variables).forEach { free($0) } }
    var process: pid_t = 0
    let result = posix_spawnp(
      &process, words[0], &spawning.files, &spawning.attributes, &arguments, &variables)
    guard result == 0 else { throw SpawnError(errno: result) }
    return process
  }

  /// Sets the files for the program's input and outputs.
  private static func connect(
    _ spawning: inout sq_spawning, _ streams: Streams, _ output: Int32
  ) {
    switch streams {
    case .shown:
      posix_spawn_file_actions_addopen(&spawning.files, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&spawning.files, output, 1)
      posix_spawn_file_actions_adddup2(&spawning.files, output, 2)
    case .detached:
      posix_spawn_file_actions_addopen(&spawning.files, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&spawning.files, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&spawning.files, 2, "/dev/null", O_WRONLY, 0)
    case .terminal(let terminal):
      if let input = terminal.input {
        posix_spawn_file_actions_adddup2(&spawning.files, input, 0)
      } else {
        posix_spawn_file_actions_addopen(&spawning.files, 0, "/dev/tty", O_RDWR, 0)
      }
      posix_spawn_file_actions_adddup2(&spawning.files, terminal.output, 1)
      posix_spawn_file_actions_adddup2(&spawning.files, terminal.output, 2)
    }
  }

  /// Makes the program receive its signals, although the threads of Swift's tasks block them and
  /// this process may ignore SIGPIPE.
  ///
  /// Ctrl-C ends only a program that gets the terminal. A detached program also gets a new session,
  /// so that it cannot open the terminal.
  private static func restoreSignals(_ spawning: inout sq_spawning, _ streams: Streams) {
    var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | closingFiles
    var signals = sq_no_signals()
    posix_spawnattr_setsigmask(&spawning.attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    switch streams {
    case .shown:
      // In its own process group, the program gets no Ctrl-C: it may be the user's browser, which
      // stays open.
      posix_spawnattr_setpgroup(&spawning.attributes, 0)
      flags |= Int32(POSIX_SPAWN_SETPGROUP)
    case .detached: flags |= newSession
    case .terminal:
      // While the program has the terminal, this process ignores the signals of the keyboard. The
      // program must not inherit that.
      sigaddset(&signals, SIGINT)
      sigaddset(&signals, SIGQUIT)
    }
    posix_spawnattr_setsigdefault(&spawning.attributes, &signals)
    posix_spawnattr_setflags(&spawning.attributes, Int16(flags))
  }

  /// The flag `POSIX_SPAWN_SETSID`, which Linux's module does not declare, and a flag that only
  /// Apple's systems have: it closes all files except those of the file actions.
  #if canImport(Glibc)
    private static let newSession: Int32 = 0x80
    private static let closingFiles: Int32 = 0
  #else
    private static let newSession = Int32(POSIX_SPAWN_SETSID)
    private static let closingFiles = Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
  #endif

  /// Returns this process's environment with some changes; unchanged values keep their bytes.
  private static func variables(
    _ changes: [String: String]
  ) -> [UnsafeMutablePointer<CChar>?] {
    let inherited = ProcessInfo.processInfo.environment.filter { changes[$0.key] == nil }
    let kept = inherited.map { name, value in
      // Foundation repairs a value that is not UTF-8. The value would then name a different file.
      let bytes =
        value.unicodeScalars.contains("\u{FFFD}") ? EnvironmentVariable.bytes(name) : nil
      return "\(name)=".utf8CString.dropLast() + (bytes ?? Array(value.utf8CString))
    }
    return kept.map { $0.withUnsafeBufferPointer { $0.baseAddress.flatMap { strdup($0) } } }
      + copies(of: changes.map { "\($0.key)=\($0.value)" })
  }

  private static func copies(of texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    texts.map { strdup($0) } + [nil]
  }
}
