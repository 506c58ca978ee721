/// Values that are fetched once for all callers and kept: one for each key, up to a number of them.
///
/// However many callers need a value at a time, it is fetched once. A cancelled caller stops
/// waiting. When no caller waits any more, the fetch is cancelled.
package final class SharedFetches<Key: Hashable & Sendable, Value: Sendable, Failure: Error>:
  Sendable
{
  private typealias Work = SharedWork<Value, Failure>

  private struct Fetch {
    let work = Work()
    var waiters: Int
  }

  private enum Step {
    case use(Value)
    case join(Work)
    case start(Work)
  }

  private struct State {
    var found: RecentValues<Key, Value>
    var underWay: [Key: Fetch] = [:]

    mutating func step(_ key: Key, _ isUsable: (Value) -> Bool) -> Step {
      if let known = found.use(key), isUsable(known) { return .use(known) }
      if var fetch = underWay[key] {
        fetch.waiters += 1
        underWay[key] = fetch
        return .join(fetch.work)
      }
      let fetch = Fetch(waiters: 1)
      underWay[key] = fetch
      return .start(fetch.work)
    }
  }

  private let state: Locked<State>

  private let keepsValues: Bool

  /// Makes an empty collection; without `keepsValues` a value is only for those who wait for it.
  ///
  /// Others may choose the keys, so at most `limit` values are kept: those that were used last.
  package init(keepsValues: Bool = true, limit: Int = 1000) {
    self.keepsValues = keepsValues
    state = Locked(State(found: RecentValues(limit: limit)))
  }

  /// Returns the kept value of a key if it is usable; otherwise joins the fetch under way or starts
  /// one.
  ///
  /// The closure `isUsable` runs under a lock. The result is `nil` if the caller's task is
  /// cancelled.
  package func value(
    of key: Key, if isUsable: (Value) -> Bool = { _ in true },
    _ fetch: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    let work: Work
    switch state.withLock({ $0.step(key, isUsable) }) {
    case .use(let value):
      return value
    case .join(let underWay):
      work = underWay
    case .start(let new):
      work = new
      new.start(here: true) {
        let outcome: Work.Outcome
        do throws(Failure) {
          outcome = .success(try await fetch())
        } catch {
          outcome = .failure(error)
        }
        self.end(key, new, outcome)
      }
    }
    guard let outcome = await work.outcome.value() else {
      leave(key, work)
      return nil
    }
    return try outcome.get()
  }

  /// The value that is kept for a key, usable or not.
  package func known(_ key: Key) -> Value? {
    state.withLock { $0.found.use(key) }
  }

  /// How many values are kept.
  package var count: Int { state.withLock(\.found.count) }

  /// Changes the value that is kept for a key, if there is one.
  package func change(_ key: Key, _ body: (inout Value) -> Void) {
    state.withLock { $0.found.change(key, body) }
  }

  /// Makes the next caller start a new fetch, even if one is under way.
  ///
  /// The callers that wait for the fetch under way still get its value, which is not kept.
  package func detach(_ key: Key) {
    state.withLock { $0.underWay[key] = nil }
  }

  private func end(_ key: Key, _ work: Work, _ outcome: Work.Outcome) {
    state.withLock { state in
      guard state.underWay[key]?.work === work else { return }
      state.underWay[key] = nil
      if keepsValues, case .success(let value) = outcome { state.found.set(key, to: value) }
    }
    work.outcome.resolve(outcome)
  }

  private func leave(_ key: Key, _ work: Work) {
    let isAbandoned = state.withLock { state in
      guard state.underWay[key]?.work === work else { return false }
      state.underWay[key]?.waiters -= 1
      guard state.underWay[key]?.waiters == 0 else { return false }
      state.underWay[key] = nil
      return true
    }
    if isAbandoned { work.cancel() }
  }
}
