/// A dictionary of limited size that forgets the least recently used values.
///
/// It is safe for keys that others choose, such as texts from a server.
///
/// It is public, like ``Locked`` and ``OneShot``, because the compiler specializes generic code for
/// the types of another module only if that code is public and inlinable. Unspecialized code takes
/// many times as long.
public struct RecentValues<Key: Hashable, Value> {
  @usableFromInline var entries: [Key: (value: Value, use: UInt64)] = [:]
  /// How often values were used or set, in total.
  @usableFromInline var uses: UInt64 = 0
  @usableFromInline let limit: Int

  /// Creates an empty collection for at most `limit` values.
  @inlinable
  public init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The number of values.
  @inlinable public var count: Int { entries.count }

  /// Returns the value of a key and records that it was used.
  @inlinable
  public mutating func use(_ key: Key) -> Value? {
    guard let index = entries.index(forKey: key) else { return nil }
    uses += 1
    entries.values[index].use = uses
    return entries.values[index].value
  }

  /// Sets the value of a key, or removes it if `value` is `nil`.
  ///
  /// If there are too many values, the least recently used ones are removed.
  @inlinable
  public mutating func set(_ key: Key, to value: Value?) {
    guard let value else {
      entries[key] = nil
      return
    }
    uses += 1
    if entries.count >= limit, entries[key] == nil { makeRoom() }
    entries[key] = (value, uses)
  }

  /// Changes the value of a key, if there is one.
  @inlinable
  public mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    guard let index = entries.index(forKey: key) else { return }
    body(&entries.values[index].value)
  }

  /// Removes the least recently used values, about a sixteenth of all.
  ///
  /// If it removed only one value, each new value would need a sort.
  @usableFromInline
  mutating func makeRoom() {
    let order = entries.values.map(\.use).sorted()
    let last = order[limit / 16]
    entries = entries.filter { $0.value.use > last }
  }
}

extension RecentValues: Sendable where Key: Sendable, Value: Sendable {}
