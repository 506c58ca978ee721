import Foundation
import SQBasics

/// A started program and its result.
final class Run: Sendable, CustomStringConvertible {
  struct Outcome: Sendable {
    let status: Int32
    let isKilled: Bool
    let output: String
    let errors: String

    /// The code of the error that ended the program, such as `store_failed`.
    var code: String? {
      errors.split(separator: "\n").last { $0.hasPrefix("error: ") }
        .flatMap { $0.dropFirst("error: ".count).split(separator: ":").first.map(String.init) }
    }

    /// How the program ended, with its error output if it failed.
    var summary: String {
      if isKilled { return "killed" }
      return status == 0 ? "a token" : "status \(status): \(errors)"
    }
  }

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private let number: pid_t
  private let end = OneShot<Outcome>()
  /// Whether the process has been reaped; its process ID may then belong to another program.
  private let isOver = Locked(false)

  /// Starts a command, which is given by its path or found in `PATH`.
  init(_ command: [String]) throws {
    let said = NSTemporaryDirectory() + "sq-torture-said-\(UUID().uuidString)"
    number = try Self.spawn(command, output: said + ".out", errors: said + ".err")
    // A separate thread waits, because a program may be suspended for seconds.
    Thread { self.end.resolve(Self.outcome(self.wait(), said)) }.start()
  }

  var description: String { "process \(number)" }

  /// Waits for the program's end and returns its status.
  private func wait() -> Int32 {
    var info = siginfo_t()
    while waitid(P_PID, id_t(number), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return isOver.withLock { isOver in
      isOver = true
      var status: Int32 = 0
      waitpid(number, &status, 0)
      return status
    }
  }

  private static func spawn(
    _ command: [String], output: String, errors: String
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (file, path) in [(Int32(1), output), (2, errors)] {
      posix_spawn_file_actions_addopen(&actions, file, path, O_WRONLY | O_CREAT, 0o600)
    }
    let words = command.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var number: pid_t = 0
    let error = posix_spawnp(&number, command[0], &actions, nil, words, environ)
    guard error == 0 else {
      throw Failed(description: "\(command[0]): \(String(cString: strerror(error)))")
    }
    return number
  }

  private static func outcome(_ status: Int32, _ said: String) -> Outcome {
    let texts = [".out", ".err"].map { end in
      defer { unlink(said + end) }
      let bytes = (try? Data(contentsOf: URL(filePath: said + end))) ?? Data()
      return String(decoding: bytes, as: UTF8.self)
    }
    return Outcome(
      status: status >> 8 & 0xff, isKilled: status & 0x7f != 0, output: texts[0], errors: texts[1])
  }

  func outcome() async -> Outcome { await end.wait() }

  /// Sends a signal unless the program has ended.
  func signal(_ signal: Int32) {
    isOver.withLock { if !$0 { kill(number, signal) } }
  }

  /// Runs a command that must succeed.
  static func succeeds(_ command: [String]) async throws {
    let outcome = await (try Run(command)).outcome()
    guard outcome.status == 0, !outcome.isKilled else {
      throw Failed(description: "\(command.joined(separator: " ")): \(outcome.errors)")
    }
  }
}
