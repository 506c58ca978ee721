import Foundation
import ProgramSupport
import TestSupport

/// The built demo in its own process, with a home folder of the test.
final class DemoProcess: Sendable {
  private let process: ChildProcess
  private let folder: TemporaryFolder

  /// The output of a process and how it ended.
  struct Outcome: Sendable {
    let status: Int32
    /// Whether a signal ended the process.
    ///
    /// Then `status` is the signal's number.
    let isKilled: Bool
    let output: String
    let errors: String

    var lines: [Substring] { output.split(separator: "\n") }
    var firstError: Substring { errors.split(separator: "\n").first ?? "" }
  }

  /// Starts the program.
  ///
  /// By default, the input is empty, and the output and the errors go to files in `folder`. If only
  /// `output` is given, the errors go there too.
  ///
  /// `home` is a home folder shared with other processes; then `folder` is only for the output. A
  /// `starter` is a command that runs the program given by its last arguments.
  init(
    _ arguments: [String], in folder: TemporaryFolder, home: TemporaryFolder? = nil,
    starter: [String] = [], environment: [String: String] = [:], input: FileHandle? = nil,
    output: FileHandle? = nil, errors: FileHandle? = nil
  ) throws {
    self.folder = folder
    let (input, errors) = (input ?? .nullDevice, try errors ?? output ?? folder.handle("errors"))
    let output = try output ?? folder.handle("output")
    process = try ChildProcess(
      starter + [Self.executable] + arguments,
      environment: Self.environment(home ?? folder).merging(environment) { $1 },
      input: input.fileDescriptor, output: output.fileDescriptor, errors: errors.fileDescriptor)
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: [String], in folder: TemporaryFolder, starter: [String] = [],
    environment: [String: String] = [:]
  ) async throws -> Outcome {
    await (try DemoProcess(arguments, in: folder, starter: starter, environment: environment))
      .outcome()
  }

  /// Starts the program and interrupts it after its browser has written the folder's file `seen`.
  ///
  /// The last line of that file is `end`. The browser gets the signal too and has to ignore it.
  static func interrupted(
    _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:]
  ) async throws -> Outcome {
    let demo = try DemoProcess(arguments, in: folder, environment: environment)
    try await eventually("the browser has run") { folder.read("seen").hasSuffix("end\n") }
    demo.send(SIGINT)
    return await demo.outcome()
  }

  /// Waits for the program's end.
  ///
  /// Kills the program after a minute, or when the task is cancelled.
  func outcome() async -> Outcome {
    let status = (try? await process.result())?.status ?? 128 + SIGKILL
    return Outcome(
      status: status > 128 ? status - 128 : status, isKilled: status > 128, output: output,
      errors: errors)
  }

  /// Sends a signal repeatedly until the program has ended.
  func outcome(sending signal: Int32) async -> Outcome {
    let sender = Task {
      while !Task.isCancelled {
        send(signal)
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    defer { sender.cancel() }
    return await outcome()
  }

  /// The standard output so far.
  var output: String { folder.read("output") }

  /// The standard error so far.
  var errors: String { folder.read("errors") }

  func send(_ signal: Int32) {
    process.signal(signal)
  }

  /// Suspends the program until it gets SIGCONT.
  func freeze() async throws {
    try await process.freeze()
  }

  /// The program's path beside the test bundle.
  private static let executable = BuiltProgram.path("sq-demo")

  /// An environment without a browser, display or colour setting, and with the test's own state
  /// folder.
  private static func environment(_ folder: TemporaryFolder) -> [String: String?] {
    let inherited = ProcessInfo.processInfo.environment
    let kept = inherited.filter { $0.key == "PATH" || $0.key.hasSuffix("SAN_OPTIONS") }
    return inherited.mapValues { _ in nil }
      .merging(kept) { $1 }
      .merging([
        "HOME": folder.path, "XDG_STATE_HOME": folder.file("state"), "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
      ]) { $1 }
  }
}

extension DemoProcess {
  /// Returns a pipe that no program reads any more.
  static func closedPipe() throws -> FileHandle {
    let pipe = try ChildPipe()
    close(pipe.readEnd)
    return FileHandle(fileDescriptor: pipe.writeEnd, closeOnDealloc: true)
  }
}
