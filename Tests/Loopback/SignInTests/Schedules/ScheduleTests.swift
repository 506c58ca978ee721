import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Random schedules of callers, servers, stores, users, processes and clocks.
///
/// No session may be lost, no event reported twice, and no caller may wait forever. A seed
/// identifies a schedule and determines its steps. Only the system's scheduler decides how the
/// steps overlap.
@Suite(.timeLimit(.minutes(5))) struct ScheduleTests {
  /// The seeds of the schedules, in up to four ranges that run at the same time.
  ///
  /// The default is 0 to 499, or 0 to 99 with a sanitizer. `SCHEDULES=FIRST-LAST` in the
  /// environment runs other seeds, or repeats one.
  static let blocks: [ClosedRange<UInt64>] = {
    let wanted = ProcessInfo.processInfo.environment["SCHEDULES"]?.split(separator: "-")
    let ends = (wanted ?? []).compactMap { UInt64($0) }
    let first = ends.first ?? 0
    let last = max(ends.last ?? (isSanitized ? 99 : 499), first)
    let share = (last - first) / 4 + 1
    return stride(from: first, through: last, by: Int(share)).map { $0...min($0 + share - 1, last) }
  }()

  @Test(arguments: blocks)
  func `in hundreds of random schedules, no session is lost and no caller waits for ever`(
    seeds: ClosedRange<UInt64>
  ) async throws {
    for seed in seeds { try await Self.run(Schedule(seed: seed)) }
  }

  static func run(_ schedule: Schedule) async throws {
    let module = Forgotten<AuthorizationModule>()
    let report: Report
    do {
      let world = try await World(schedule)
      do {
        for step in schedule.steps { try await world.play(step) }
        try await world.end()
      } catch {
        world.report.add("\(error)")
      }
      module.value = world.module
      await world.sandbox.stop()
      report = world.report
    }
    #expect(report.faults.isEmpty, "\(schedule)\nwhat happened:\n\(report.trace)")
    guard report.faults.isEmpty else { return }
    try await eventually { module.value == nil }
  }
}

/// A weak reference to an object, to check that the object's last strong reference is released.
private final class Forgotten<Object: AnyObject & Sendable>: @unchecked Sendable {
  private struct State { weak var value: Object? }
  private let state = Locked(State())
  var value: Object? {
    get { state.withLock(\.value) }
    set { state.withLock { $0.value = newValue } }
  }
}
