/// A cache that fetches the value of a key once for all callers that need it at the same time.
///
/// A cancelled caller stops waiting, but the fetch continues to its own time limit. So an attacker
/// who sends many requests and hangs up does not cause many fetches. A caller with a short time
/// limit gets a slow server's value from a later call.
///
/// It is public for the same reason as ``RecentValues``.
public final class SharedFetches<Key: Hashable & Sendable, Value: Sendable, Failure: Error>:
  Sendable
{
  @usableFromInline typealias Work = SharedWork<Value, Failure>

  fileprivate enum Step {
    case use(Value)
    case join(Work)
    case start(Work)
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var found: RecentValues<Key, Value>
    /// The running fetches that new callers join, by key.
    var underWay: [Key: Work] = [:]
    /// The number of callers that wait for each fetch, including fetches that new callers do not
    /// join.
    var waiters: [ObjectIdentifier: Int] = [:]
    /// The number of fetches for which no caller waits.
    var abandoned = 0

    fileprivate mutating func step(_ key: Key, _ isUsable: (Value) -> Bool) -> Step {
      if let known = found.use(key), isUsable(known) { return .use(known) }
      if let work = underWay[key] {
        let id = ObjectIdentifier(work)
        if waiters[id] == 0 { abandoned -= 1 }
        waiters[id, default: 0] += 1
        return .join(work)
      }
      let work = Work()
      underWay[key] = work
      waiters[ObjectIdentifier(work)] = 1
      return .start(work)
    }

    /// Removes a fetch; returns `false` if ``SharedFetches/detach(_:)`` was called for it before.
    fileprivate mutating func remove(_ work: Work, of key: Key) -> Bool {
      if waiters.removeValue(forKey: ObjectIdentifier(work)) == 0 { abandoned -= 1 }
      guard underWay[key] === work else { return false }
      underWay[key] = nil
      return true
    }
  }

  @usableFromInline let state: Locked<State>

  private let keepsValues: Bool
  private let abandonedLimit: Int

  /// Creates an empty cache; if `keepsValues` is `false`, only the waiting callers get a value.
  ///
  /// A server or an attacker may choose the keys, so the cache keeps at most `limit` values and
  /// removes the least recently used ones. For the same reason, at most `abandonedLimit` fetches
  /// continue without a waiting caller; a further one is cancelled when its last caller leaves. A
  /// fetch must end by itself, unless `abandonedLimit` is zero.
  package init(keepsValues: Bool = true, limit: Int = 1000, abandonedLimit: Int = 1000) {
    self.keepsValues = keepsValues
    self.abandonedLimit = abandonedLimit
    state = Locked(State(found: RecentValues(limit: limit)))
  }

  /// Returns the cached value of a key if it is usable; otherwise waits for a fetch.
  ///
  /// If a fetch of this key is already running, the caller waits for that fetch.
  ///
  /// The closure `isUsable` runs under a lock. The result is `nil` if the caller's task is
  /// cancelled before the fetch ends.
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
      new.start(here: true) { self.end(key, new, await .of(fetch)) }
    }
    guard let outcome = await work.outcome.value() else {
      leave(key, work)
      return nil
    }
    return try outcome.get()
  }

  /// Returns the cached value of a key, whether it is usable or not.
  @inlinable
  public func known(_ key: Key) -> Value? {
    state.withLock { $0.found.use(key) }
  }

  /// The number of cached values.
  package var count: Int { state.withLock(\.found.count) }

  /// Changes the cached value of a key, if there is one.
  package func change(_ key: Key, _ body: (inout Value) -> Void) {
    state.withLock { $0.found.change(key, body) }
  }

  /// Makes the next caller without a usable cached value start a new fetch, even if a fetch is
  /// running.
  ///
  /// The callers that wait for the current fetch still get its value, but the value is not cached.
  package func detach(_ key: Key) {
    state.withLock { $0.underWay[key] = nil }
  }

  private func end(_ key: Key, _ work: Work, _ outcome: Work.Outcome) {
    state.withLock { state in
      guard state.remove(work, of: key), keepsValues, case .success(let value) = outcome else {
        return
      }
      state.found.set(key, to: value)
    }
    work.outcome.resolve(outcome)
  }

  /// Leaves a fetch, and cancels it if it has no caller left and too many such fetches continue.
  private func leave(_ key: Key, _ work: Work) {
    let isCancelled = state.withLock { state in
      let id = ObjectIdentifier(work)
      // A fetch without an entry in `waiters` has ended.
      guard let waiters = state.waiters[id] else { return false }
      if waiters == 1, state.abandoned >= abandonedLimit {
        _ = state.remove(work, of: key)
        return true
      }
      state.waiters[id] = waiters - 1
      if waiters == 1 { state.abandoned += 1 }
      return false
    }
    if isCancelled { work.cancel() }
  }
}
