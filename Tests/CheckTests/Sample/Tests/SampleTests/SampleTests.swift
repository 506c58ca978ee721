import Foundation
import Testing

/// Tests that fail as `SAMPLE_FAULTS` says, for the tests of the scripts that judge a test run.
@Suite struct SampleTests {
  @Test func `a test that passes`() {}

  @Test func `a (strange) [name] fails, if SAMPLE_FAULTS contains fails`() {
    #expect(!Fault.fails.isWanted)
  }

  @Test(.enabled(if: false, "it needs a thing")) func `a test that cannot run`() {}

  @Test func `a test that fails in the runs that the fault lucky lists`() throws {
    guard let runs = Fault.lucky.value else { return }
    let file = URL(filePath: Fault.folder + "/runs")
    let run = ((try? Data(contentsOf: file))?.count ?? 0) + 1
    try Data(count: run).write(to: file)
    #expect(!runs.contains("\(run)"), "bad luck")
  }

  @Test func `a test that crashes`() {
    let numbers = Fault.crashes.isWanted ? [] : [1]
    #expect(numbers[0] == 1)
  }

  @Test func `a test that hangs`() {
    if Fault.hangs.isWanted { while true { sleep(1) } }
  }

  @Test func `a test that races`() {
    guard Fault.races.isWanted else { return }
    let count = Count()
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<2 {
      Thread.detachNewThread {
        count.value += 1
        ended.signal()
      }
    }
    for _ in 0..<2 { ended.wait() }
  }

  @Test func `a test that leaves a program behind`() throws {
    guard Fault.leaves.isWanted else { return }
    let program = Process()
    program.executableURL = URL(filePath: "/bin/sleep")
    program.arguments = ["600"]
    try program.run()
    try Data("\(program.processIdentifier)".utf8).write(to: URL(filePath: Fault.folder + "/left"))
  }
}

private final class Count: @unchecked Sendable {
  var value = 0
}

private enum Fault: String {
  case fails, lucky, crashes, hangs, races, leaves

  static let folder = ProcessInfo.processInfo.environment["SAMPLE_FOLDER"] ?? "."

  private static let wanted =
    (ProcessInfo.processInfo.environment["SAMPLE_FAULTS"] ?? "").split(separator: " ")

  var isWanted: Bool { value != nil }

  /// The text after the fault's name and `=`; empty without `=`, and `nil` for a fault that is not
  /// wanted.
  var value: Substring? {
    Self.wanted.lazy.compactMap { word in
      let parts = word.split(separator: "=", maxSplits: 1)
      return parts.first == Substring(rawValue) ? parts.dropFirst().first ?? "" : nil
    }.first
  }
}
