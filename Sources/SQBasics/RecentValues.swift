/// Values by keys that others can choose: the values that were used last, up to a number.
package struct RecentValues<Key: Hashable, Value> {
  private var entries: [Key: (value: Value, use: UInt64)] = [:]
  /// How often a value was used or set.
  private var uses: UInt64 = 0
  private let limit: Int

  /// Makes an empty collection for at most `limit` values.
  package init(limit: Int) {
    self.limit = max(1, limit)
  }

  package var count: Int { entries.count }

  /// The value of a key, which counts as used.
  package mutating func use(_ key: Key) -> Value? {
    guard let index = entries.index(forKey: key) else { return nil }
    uses += 1
    entries.values[index].use = uses
    return entries.values[index].value
  }

  /// Sets or removes the value of a key; if there are too many values, forgets those that were not
  /// used for longest.
  package mutating func set(_ key: Key, to value: Value?) {
    guard let value else {
      entries[key] = nil
      return
    }
    uses += 1
    if entries.count >= limit, entries[key] == nil { makeRoom() }
    entries[key] = (value, uses)
  }

  /// Changes the value of a key, if there is one.
  package mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    guard let index = entries.index(forKey: key) else { return }
    body(&entries.values[index].value)
  }

  /// Forgets a part of the values, so that not every new value costs a search.
  private mutating func makeRoom() {
    let order = entries.values.map(\.use).sorted()
    let last = order[limit / 16]
    entries = entries.filter { $0.value.use > last }
  }
}

extension RecentValues: Sendable where Key: Sendable, Value: Sendable {}
