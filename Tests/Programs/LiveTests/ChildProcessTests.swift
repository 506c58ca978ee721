import Foundation
import ProgramSupport
import TestSupport
import Testing

/// The tests' own tools, since a tool that hides a failure hides all of them.
@Suite(.timeLimit(.minutes(1)))
struct ChildProcessTests {
  @Test func `what a program writes and how it ends is told`() async throws {
    let result = try await ChildProcess.run(
      ["sh", "-c", "cat; echo $WORD >&2; exit 3"], environment: ["WORD": "oops"],
      input: .text("hello"))
    #expect(result.status == 3)
    #expect(result.output == "hello")
    #expect(result.errors == "oops\n")
  }

  @Test func `an environment variable can be taken away`() async throws {
    let result = try await ChildProcess.run(
      ["sh", "-c", "echo ${HOME-none}"], environment: ["HOME": nil])
    #expect(result.output == "none\n")
  }

  @Test func `a program that is not there is an error`() {
    #expect(throws: ChildProcessError.self) { try ChildProcess(["/no/such/program"]) }
  }

  @Test func `a program past its limit is killed and leaves no process`() async throws {
    let process = try ChildProcess(["sh", "-c", "sleep 300 & echo $!; wait"])
    let sleeper = try #require(pid_t(try await process.line(after: "")))
    await #expect(throws: ChildProcessError.self) {
      try await process.result(within: .milliseconds(50))
    }
    try await eventually("both are gone") { isGone(process.processID) && isGone(sleeper) }
  }

  @Test func `stopping ends a program that does not want to`() async throws {
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

  @Test func `a requirement that is not there is named`() {
    let requirement = ProgramRequirement(programs: ["sh", "no-such-program"])
    #expect(requirement.missing == ["no-such-program"])
  }

  /// Not running, and not waiting to be asked how it ended, unless by the system's first process.
  private func isGone(_ process: pid_t) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return true
    }
    let fields = status.split(separator: ") ").last?.split(separator: " ") ?? []
    return fields.prefix(2) == ["Z", "1"]
  }
}
