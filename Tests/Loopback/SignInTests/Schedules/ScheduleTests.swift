import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Random schedules of callers, servers, stores, users, processes and clocks: no session is lost,
/// no event is reported twice, and no caller waits for ever.
///
/// A seed names a schedule. The steps of a schedule are always the same; the system's scheduler
/// decides how they overlap.
@Suite(.timeLimit(.minutes(5))) struct ScheduleTests {
  /// Four at a time: the seeds 0 to 499, or those of `SCHEDULES=FIRST-LAST`, to look for more or to
  /// play one again.
  static let blocks: [ClosedRange<UInt64>] = {
    let wanted = ProcessInfo.processInfo.environment["SCHEDULES"]?.split(separator: "-")
    let ends = (wanted ?? []).compactMap { UInt64($0) }
    let first = ends.first ?? 0
    let last = max(ends.last ?? 499, first)
    let share = (last - first) / 4 + 1
    return stride(from: first, through: last, by: Int(share)).map { $0...min($0 + share - 1, last) }
  }()

  @Test(arguments: blocks)
  func `500 random schedules keep every promise`(seeds: ClosedRange<UInt64>) async throws {
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

/// An object that must be released when its last reference is gone.
private final class Forgotten<Object: AnyObject & Sendable>: @unchecked Sendable {
  private struct State { weak var value: Object? }
  private let state = Locked(State())
  var value: Object? {
    get { state.withLock(\.value) }
    set { state.withLock { $0.value = newValue } }
  }
}
