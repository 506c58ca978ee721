import Foundation
import TestSupport
import Testing

/// The built program, run as a process of its own with a home of its own.
final class DemoProcess: @unchecked Sendable {
  // Not Sendable in Foundation's eyes; set up before it runs, and only signalled afterwards.
  private let process = Process()
  private let folder: TemporaryFolder
  private let ended: AsyncStream<Never>

  /// What a process has said, and how it ended.
  struct Outcome: Sendable {
    let status: Int32
    /// Whether a signal ended it, whose number the status is then.
    let isKilled: Bool
    let output: String
    let errors: String

    var lines: [Substring] { output.split(separator: "\n") }
    var firstError: Substring { errors.split(separator: "\n").first ?? "" }
  }

  /// Starts it; with a terminal or a file handle its streams are those, and not files.
  init(
    _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
    input: FileHandle? = nil, output: FileHandle? = nil
  ) throws {
    self.folder = folder
    process.executableURL = Self.executable
    process.arguments = arguments
    process.environment = Self.environment(folder).merging(environment) { $1 }
    process.standardInput = input ?? FileHandle.nullDevice
    process.standardOutput = try output ?? folder.handle("output")
    process.standardError = try output ?? folder.handle("errors")
    let (ended, end) = AsyncStream.makeStream(of: Never.self)
    self.ended = ended
    process.terminationHandler = { _ in end.finish() }
    try process.run()
  }

  deinit {
    if process.isRunning { send(SIGKILL) }
  }

  /// Runs it to its end.
  static func run(
    _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:]
  ) async throws -> Outcome {
    try await DemoProcess(arguments, in: folder, environment: environment).outcome()
  }

  /// Waits for its end.
  func outcome() async -> Outcome {
    await withTaskCancellationHandler {
      for await _ in ended {}
    } onCancel: {
      process.terminate()
    }
    return Outcome(
      status: process.terminationStatus, isKilled: process.terminationReason == .uncaughtSignal,
      output: output, errors: folder.read("errors"))
  }

  /// What it has printed so far.
  var output: String { folder.read("output") }

  /// What it has said on standard error so far.
  var errors: String { folder.read("errors") }

  func send(_ signal: Int32) {
    kill(process.processIdentifier, signal)
  }

  /// The program beside the test bundle.
  private static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "sq-demo")

  /// No browser, no display, no wish about colours, and a state folder of the test's own.
  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    let inherited = ProcessInfo.processInfo.environment
    let sanitizers = inherited.filter { $0.key.hasSuffix("SAN_OPTIONS") }
    return sanitizers.merging([
      "PATH": inherited["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
      "XDG_STATE_HOME": folder.file("state"), "TERM": "xterm-256color", "LANG": "C.UTF-8",
    ]) { $1 }
  }
}
