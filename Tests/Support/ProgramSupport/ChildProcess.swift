package import Foundation
import TestSupport

/// A program that a test runs in a separate process group.
///
/// When the program ends or is stopped, or when this object is released, all processes of the group
/// are killed too.
package final class ChildProcess: Sendable {
  /// The standard input of the program.
  package enum Input: Sendable {
    /// An empty input that ends at once.
    case none
    /// A text, followed by the end.
    case text(String)
    /// An empty input that stays open until ``ChildProcess/endInput()``,
    /// ``ChildProcess/stop(within:)`` or the release of the object.
    case open
  }

  /// The output and the exit status of a program.
  package struct Result: Sendable {
    /// The exit status or, after a signal, 128 plus its number, as in a shell.
    package let status: Int32
    package let output: String
    package let errors: String
  }

  package let processID: pid_t
  private let command: [String]
  private let record: ChildRecord

  /// Starts a program by its name in `PATH` or by its path.
  ///
  /// The environment is that of the test with changes: a value sets a variable, `nil` removes it.
  /// The program gets the sockets as its descriptors 3, 4 and so on.
  package init(
    _ command: [String], environment: [String: String?] = [:], sockets: [Int32] = [],
    input: Input = .none
  ) throws {
    let pipes = try (input: ChildPipe(), output: ChildPipe(), errors: ChildPipe())
    self.command = command
    processID = try spawn(
      command, environment: environment,
      descriptors: [pipes.input.readEnd, pipes.output.writeEnd, pipes.errors.writeEnd] + sockets)
    [pipes.input.readEnd, pipes.output.writeEnd, pipes.errors.writeEnd].forEach { close($0) }
    record = ChildRecord(processID: processID, inputEnd: pipes.input.writeEnd)
    record.collect(pipes.output.readEnd, into: \.output)
    record.collect(pipes.errors.readEnd, into: \.errors)
    record.reap()
    switch input {
    case .none: record.closeInput()
    case .text(let text): record.write(Data(text.utf8))
    case .open: break
    }
  }

  /// Starts a program whose standard input, output and error are open files of the test.
  package init(
    _ command: [String], environment: [String: String?] = [:], input: Int32, output: Int32,
    errors: Int32
  ) throws {
    self.command = command
    processID = try spawn(
      command, environment: environment, descriptors: [input, output, errors])
    record = ChildRecord(processID: processID)
    record.reap()
  }

  deinit {
    record.closeInput()
    record.signal(SIGKILL)
  }

  /// Runs a program to its end, and returns its output and its exit status.
  package static func run(
    _ command: [String], environment: [String: String?] = [:],
    input: Input = .none, within limit: Duration = .seconds(60)
  ) async throws -> Result {
    try await ChildProcess(command, environment: environment, input: input)
      .result(within: limit)
  }

  /// The program's standard output so far.
  package var output: String { record.text(\.output) }
  /// The program's standard error so far.
  package var errors: String { record.text(\.errors) }
  /// Whether the program has not ended yet.
  package var isRunning: Bool { record.status == nil }

  /// Waits for the program's end, and for the end of its output.
  ///
  /// Kills the program after the limit, or when the task is cancelled.
  package func result(within limit: Duration = .seconds(60)) async throws -> Result {
    do {
      let status = try await eventually("\(command) ends", within: limit) { record.status }
      // The last output may still be in the pipes, which a program outside the group may keep open.
      try await eventually("the output of \(command) ends", within: .seconds(60)) {
        record.isComplete
      }
      return Result(status: status, output: output, errors: errors)
    } catch let error as NeverHappened {
      signal(SIGKILL)
      throw ChildProcessError(message: "\(error); it wrote: \(output)\(errors)")
    } catch {
      signal(SIGKILL)
      throw error
    }
  }

  /// Closes the program's standard input.
  package func endInput() { record.closeInput() }

  /// Waits for a line of standard output that begins with a text, and returns the rest of the line.
  package func line(
    after start: String, within limit: Duration = .seconds(60)
  ) async throws -> String {
    do {
      return try await eventually("\(command) prints \(start)", within: limit) {
        let hasEnded = record.isComplete
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        if let line = lines.first(where: { $0.hasPrefix(start) }) {
          return String(line.dropFirst(start.count))
        }
        if hasEnded { throw ChildProcessError(message: "\(command) ended: \(output)\(errors)") }
        return nil
      }
    } catch let error as NeverHappened {
      throw ChildProcessError(message: "\(error); it wrote: \(output)\(errors)")
    }
  }

  /// Whether all threads of the program are stopped, as after SIGSTOP.
  package var isStopped: Bool {
    let tasks = "/proc/\(processID)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return !threads.isEmpty && threads.allSatisfy { Self.state(at: "\(tasks)/\($0)") == "T" }
  }

  /// Suspends the program, and returns when its last thread has stopped, a moment after the signal.
  package func freeze() async throws {
    signal(SIGSTOP)
    try await eventually("\(command) is suspended") { isStopped || !isRunning }
  }

  /// Returns the letter for the state of any process, or `nil` after its end: `T` for stopped, `Z`
  /// for zombie.
  static func state(of processID: pid_t) -> Character? { state(at: "/proc/\(processID)") }

  private static func state(at folder: String) -> Character? {
    let line = (try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8)) ?? ""
    // The name before the state may contain any characters.
    return line.split(separator: ")").last?.dropFirst().first
  }

  /// Sends a signal to the whole group or, with `alone`, only to the program, unless it has ended.
  package func signal(_ number: Int32, alone: Bool = false) {
    record.signal(number, alone: alone)
  }

  /// Ends the program: closes its input, sends SIGTERM, and kills it after the limit.
  package func stop(within limit: Duration = .seconds(5)) async {
    record.closeInput()
    signal(SIGTERM)
    // A new task waits, because the test's task may have been cancelled.
    await Task { [self] in
      try? await eventually("\(command) ends", within: limit) { !isRunning }
      signal(SIGKILL)
      try? await eventually("\(command) is killed") { !isRunning }
    }.value
  }
}

/// The error if a program did not do what a test needs.
package struct ChildProcessError: Error, CustomStringConvertible {
  let message: String
  package var description: String { message }
}
