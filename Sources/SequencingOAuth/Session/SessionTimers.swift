import SQBasics
import SQFoundation

/// The timer of any number of sessions: a queue, and a single task that sleeps until the queue's
/// first session is due.
///
/// A session is due at its date. It is also due when the time until that date has passed, even if
/// the system's date was moved back meanwhile.
final class SessionTimers: Sendable {
  /// A session's entry in one queue; it is used only under that queue's lock.
  final class Place: @unchecked Sendable {
    fileprivate var date = Date.distantFuture
    /// The steady time at which the session is due at the latest.
    ///
    /// It was computed when the date was set, and stays until the date is set to another one.
    fileprivate var deadline = Duration.bounded(seconds: .infinity)
    /// The entry's index in the heap; -1 if it is not in the heap.
    fileprivate var index = -1
    /// The session, while its entry is in the heap.
    fileprivate var session: TokenSession?
  }

  fileprivate struct State {
    /// A binary heap by deadlines: the entry at i is not later than the entries at 2i + 1 and
    /// 2i + 2.
    var places: [Place] = []
    /// How far the clock's date is ahead of its steady time; no entry's date comes before its
    /// deadline at this difference.
    var lead = -Double.infinity
    var sleepsUntil: Duration?
    var sleeper: Task<Void, Never>?
    /// The number of the current sleeping task, so that an earlier task has no effect.
    var count = 0
  }

  private let clock: any WallClock
  private let state = Locked(State())

  init(_ clock: any WallClock) {
    self.clock = clock
  }

  /// Moves a session's entry to the date of `dueAt`, or removes it if `dueAt` returns `nil`.
  func reschedule(_ place: Place, of session: TokenSession, dueAt: @Sendable () -> Date?) {
    let now = ClockMoment(clock)
    let old = state.withLock { state -> Task<Void, Never>? in
      state.adapt(to: now)
      // `dueAt` is called under the lock, so that the newer date wins if two calls overlap.
      if let date = dueAt() {
        state.put(place, at: date, now, session)
      } else {
        state.remove(place)
      }
      return resetSleeper(&state, now)
    }
    // Not under the lock: `cancel()` calls into the clock, which may be the app's.
    old?.cancel()
  }

  /// Whether the time until an entry's date has passed, even if the date was moved back meanwhile.
  func hasPassed(_ date: Date, of place: Place) -> Bool {
    let now = clock.steadyTime
    return state.withLock { _ in place.date == date && place.deadline <= now }
  }

  /// Replaces the sleeping task if the earliest deadline has changed.
  ///
  /// Returns the old task; the caller must cancel it outside the lock.
  private func resetSleeper(_ state: inout State, _ now: ClockMoment) -> Task<Void, Never>? {
    let first = state.places.first
    guard first?.deadline != state.sleepsUntil else { return nil }
    let old = state.sleeper
    state.count += 1
    state.sleepsUntil = first?.deadline
    state.sleeper = nil
    if let first {
      let (clock, count, deadline) = (clock, state.count, first.deadline)
      // No entry's date is earlier, so the sleep ends in time if the date is moved forward.
      let date = min(first.date, now.date(at: deadline))
      state.sleeper = Task { [weak self] in
        // The date may have been moved back since `now`, before the clock computes its wait.
        let date = min(date, ClockMoment(clock).date(at: deadline))
        // The task does not keep the queue alive while it waits for the clock.
        guard (try? await clock.sleep(until: date)) != nil else { return }
        self?.wake(count)
      }
    }
    return old
  }

  private func wake(_ count: Int) {
    let now = ClockMoment(clock)
    let due = state.withLock { state -> [(TokenSession, Date)] in
      guard state.count == count, let deadline = state.sleepsUntil else { return [] }
      // This task is the sleeping task, so it must not be cancelled.
      state.sleeper = nil
      state.sleepsUntil = nil
      // The clock has ended the sleep, so the first session is due. If the date was moved forward,
      // that has ended the sleep, and each session's date shows whether it is due.
      let wasMoved = state.adapt(to: now)
      let due = state.removeAll(until: wasMoved ? now.steady : max(now.steady, deadline))
      _ = resetSleeper(&state, now)
      return due
    }
    for (session, date) in due { Task { await session.tend(dueAt: date) } }
  }
}

extension SessionTimers.State {
  /// Adapts the deadlines to the clock's date if that was changed; returns whether it was moved
  /// forward.
  ///
  /// If the date was moved forward, each entry's date comes earlier. If it was moved back, the
  /// deadlines stay. Two clocks never run exactly alike, so less than a second does not count.
  @discardableResult
  fileprivate mutating func adapt(to now: ClockMoment) -> Bool {
    let lead = now.lead
    guard lead < self.lead || lead > self.lead + 1 else { return false }
    let isAhead = lead > self.lead
    self.lead = lead
    guard isAhead, !places.isEmpty else { return false }
    for place in places { place.deadline = min(place.deadline, now.steadyTime(at: place.date)) }
    for index in places.indices.reversed() { moveDown(places[index]) }
    return true
  }

  fileprivate mutating func put(
    _ place: SessionTimers.Place, at date: Date, _ now: ClockMoment, _ session: TokenSession
  ) {
    guard place.index < 0 || place.date != date else { return }
    remove(place)
    let deadline = now.steadyTime(at: date)
    place.deadline = place.date == date ? min(place.deadline, deadline) : deadline
    place.date = date
    place.session = session
    place.index = places.count
    places.append(place)
    moveUp(place)
  }

  fileprivate mutating func remove(_ place: SessionTimers.Place) {
    let index = place.index
    guard index >= 0 else { return }
    place.index = -1
    place.session = nil
    let last = places.removeLast()
    guard last !== place else { return }
    places[index] = last
    last.index = index
    moveUp(last)
    moveDown(last)
  }

  /// Removes the due entries, and returns their sessions and dates.
  fileprivate mutating func removeAll(until time: Duration) -> [(TokenSession, Date)] {
    var sessions: [(TokenSession, Date)] = []
    while let first = places.first, first.deadline <= time, let session = first.session {
      sessions.append((session, first.date))
      remove(first)
    }
    return sessions
  }

  private mutating func moveUp(_ place: SessionTimers.Place) {
    while place.index > 0 {
      let parent = places[(place.index - 1) / 2]
      guard place.deadline < parent.deadline else { return }
      swap(place, parent)
    }
  }

  private mutating func moveDown(_ place: SessionTimers.Place) {
    while true {
      let children = [2 * place.index + 1, 2 * place.index + 2].filter { $0 < places.count }
      guard let child = children.map({ places[$0] }).min(by: { $0.deadline < $1.deadline }),
        child.deadline < place.deadline
      else { return }
      swap(place, child)
    }
  }

  private mutating func swap(_ one: SessionTimers.Place, _ other: SessionTimers.Place) {
    places.swapAt(one.index, other.index)
    (one.index, other.index) = (other.index, one.index)
  }
}
