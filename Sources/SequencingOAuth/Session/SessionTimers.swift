import SQBasics
import SQFoundation

/// The timer of any number of sessions: a queue, and a single task that sleeps until the queue's
/// first session is due.
final class SessionTimers: Sendable {
  /// A session's entry in one queue; it is used only under that queue's lock.
  final class Place: @unchecked Sendable {
    fileprivate var date = Date.distantFuture
    /// The entry's index in the heap; -1 if it is not in the heap.
    fileprivate var index = -1
    /// The session, while its entry is in the heap.
    fileprivate var session: TokenSession?
  }

  fileprivate struct State {
    /// A binary heap: the entry at i is not later than the entries at 2i + 1 and 2i + 2.
    var places: [Place] = []
    var sleepsUntil: Date?
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
    let old = state.withLock { state -> Task<Void, Never>? in
      // `dueAt` is called under the lock, so that the newer date wins if two calls overlap.
      if let date = dueAt() {
        state.put(place, at: date, session)
      } else {
        state.remove(place)
      }
      return resetSleeper(&state)
    }
    // Not under the lock: `cancel()` calls into the clock, which may be the app's.
    old?.cancel()
  }

  /// Replaces the sleeping task if the earliest date has changed.
  ///
  /// Returns the old task; the caller must cancel it outside the lock.
  private func resetSleeper(_ state: inout State) -> Task<Void, Never>? {
    let date = state.places.first?.date
    guard date != state.sleepsUntil else { return nil }
    let old = state.sleeper
    state.count += 1
    state.sleepsUntil = date
    state.sleeper = nil
    if let date {
      let (clock, count) = (clock, state.count)
      state.sleeper = Task { [weak self] in
        // The task does not keep the queue alive while it waits for the clock.
        guard (try? await clock.sleep(until: date)) != nil else { return }
        self?.wake(count)
      }
    }
    return old
  }

  private func wake(_ count: Int) {
    let now = clock.now
    let due = state.withLock { state -> [TokenSession] in
      guard state.count == count, let date = state.sleepsUntil else { return [] }
      // This task is the sleeping task, so it must not be cancelled.
      state.sleeper = nil
      state.sleepsUntil = nil
      // If the clock was moved back during the wait, it may show a time before `date`.
      let due = state.removeAll(until: max(now, date))
      _ = resetSleeper(&state)
      return due
    }
    for session in due { Task { await session.tend() } }
  }
}

extension SessionTimers.State {
  fileprivate mutating func put(
    _ place: SessionTimers.Place, at date: Date, _ session: TokenSession
  ) {
    guard place.index < 0 || place.date != date else { return }
    remove(place)
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

  fileprivate mutating func removeAll(until date: Date) -> [TokenSession] {
    var sessions: [TokenSession] = []
    while let first = places.first, first.date <= date, let session = first.session {
      sessions.append(session)
      remove(first)
    }
    return sessions
  }

  private mutating func moveUp(_ place: SessionTimers.Place) {
    while place.index > 0 {
      let parent = places[(place.index - 1) / 2]
      guard place.date < parent.date else { return }
      swap(place, parent)
    }
  }

  private mutating func moveDown(_ place: SessionTimers.Place) {
    while true {
      let children = [2 * place.index + 1, 2 * place.index + 2].filter { $0 < places.count }
      guard let child = children.map({ places[$0] }).min(by: { $0.date < $1.date }),
        child.date < place.date
      else { return }
      swap(place, child)
    }
  }

  private mutating func swap(_ one: SessionTimers.Place, _ other: SessionTimers.Place) {
    places.swapAt(one.index, other.index)
    (one.index, other.index) = (other.index, one.index)
  }
}
