import Foundation
import ProgramSupport
import TestSupport
import Testing

/// The tests' own tool for child processes.
///
/// A fault in the tool would hide failures of other tests.
@Suite(.timeLimit(.minutes(1)))
struct ChildProcessTests {
  @Test func `a program's output and exit status are reported`() async throws {
    let result = try await ChildProcess.run(
      ["sh", "-c", "cat; echo $WORD >&2; exit 3"], environment: ["WORD": "oops"],
      input: .text("hello"))
    #expect(result.status == 3)
    #expect(result.output == "hello")
    #expect(result.errors == "oops\n")
  }

  @Test func `an environment variable can be removed`() async throws {
    let result = try await ChildProcess.run(
      ["sh", "-c", "echo ${HOME-none}"], environment: ["HOME": nil])
    #expect(result.output == "none\n")
  }

  @Test func `a missing program is an error`() {
    #expect(throws: ChildProcessError.self) { try ChildProcess(["/no/such/program"]) }
  }

  @Test func `a program past its time limit is killed with its child processes`() async throws {
    let process = try ChildProcess(["sh", "-c", "sleep 300 & echo $!; wait"])
    let sleeper = try #require(pid_t(try await process.line(after: "")))
    await #expect(throws: ChildProcessError.self) {
      try await process.result(within: .milliseconds(50))
    }
    try await eventually("both are gone") { isGone(process.processID) && isGone(sleeper) }
  }

  @Test func `stopping ends a program that ignores SIGTERM`() async throws {
    let process = try ChildProcess(
      ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"], input: .open)
    _ = try await process.line(after: "ready")
    await process.stop(within: .milliseconds(200))
    #expect(!process.isRunning)
    #expect(try await process.result().status == 128 + SIGKILL)
  }

  @Test func `a cancelled wait kills the program`() async throws {
    let process = try ChildProcess(["sleep", "300"])
    let waiting = Task { try await process.result() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try await eventually("it is gone") { isGone(process.processID) }
  }

  @Test func `the missing programs of a requirement are listed`() {
    let requirement = ProgramRequirement(programs: ["sh", "no-such-program"])
    #expect(requirement.missing == ["no-such-program"])
  }

  /// Returns whether a process has ended.
  ///
  /// A process has also ended if the system's first process has yet to read its exit status.
  private func isGone(_ process: pid_t) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return true
    }
    let fields = status.split(separator: ") ").last?.split(separator: " ") ?? []
    return fields.prefix(2) == ["Z", "1"]
  }
}
