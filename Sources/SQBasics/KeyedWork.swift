/// Work that runs once for all callers that ask for it with the same key at the same time.
///
/// A cancelled caller still waits for the end, because work that can be done only once must not be
/// abandoned. The key is forgotten when the work has ended.
package final class KeyedWork<Value: Sendable, Failure: Error>: Sendable {
  /// A key of any type.
  private struct Key: Hashable, Sendable {
    let value: any Hashable & Sendable

    static func == (one: Key, other: Key) -> Bool {
      AnyHashable(one.value) == AnyHashable(other.value)
    }

    func hash(into hasher: inout Hasher) {
      value.hash(into: &hasher)
    }
  }

  private typealias Outcome = Result<Value, Failure>

  private let underWay = Locked<[Key: (outcome: OneShot<Outcome>, callers: Int)]>([:])

  package init() {}

  /// For each key with running work, the number of its callers, including the one that runs it.
  package var callers: [Int] { underWay.withLock { $0.values.map(\.callers) } }

  /// Runs a body for a key, or waits if a body already runs for this key.
  package func run(
    for key: some Hashable & Sendable, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let key = Key(value: key)
    let (outcome, isFirst) = underWay.withLock { underWay in
      let known = underWay[key]
      let outcome = known?.outcome ?? OneShot<Outcome>()
      underWay[key] = (outcome, (known?.callers ?? 0) + 1)
      return (outcome, known == nil)
    }
    guard isFirst else { return try await outcome.wait().get() }
    let result = await Outcome.of(body)
    underWay.withLock { $0[key] = nil }
    outcome.resolve(result)
    return try result.get()
  }
}
