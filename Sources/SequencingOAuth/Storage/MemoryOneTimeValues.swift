import SQBasics
public import SQFoundation

/// A memory of used one-time values, for an app with a single process.
///
/// For each purpose it remembers at most 10 000 values. When it is full, it forgets the expired
/// values; if there are none, it forgets the 1000 values that expire first. Each purpose has its
/// own limit, because anyone can start web sign-ins: even very many of them do not make it forget a
/// logout token.
public final class MemoryOneTimeValues: OneTimeValues {
  /// The maximum number of values for each purpose.
  private static let limit = 10_000

  /// The expiration dates of the used values, by purpose and value.
  private let used = Locked<[String: [String: Date]]>([:])

  /// Creates an empty memory.
  public init() {}

  /// Marks a value without a purpose as used; returns `false` if it was already used.
  public func isFirstUse(of value: String, until end: Date, at now: Date) -> Bool {
    isFirstUse(of: value, for: "", until: end, at: now)
  }

  /// Marks a value as used for a purpose; returns `false` if it was already used.
  public func isFirstUse(
    of value: String, for purpose: String, until end: Date, at now: Date
  ) -> Bool {
    used.withLock { used in
      Self.note(value, until: end, at: now, in: &used[purpose, default: [:]])
    }
  }

  private static func note(
    _ value: String, until end: Date, at now: Date, in used: inout [String: Date]
  ) -> Bool {
    guard used[value] == nil else { return false }
    if used.count >= limit {
      used = used.filter { $0.value > now }
      if used.count >= limit { forgetSome(of: &used) }
    }
    used[value] = end
    return true
  }

  /// Returns whether a value was used and is still remembered.
  public func wasUsed(_ value: String) -> Bool? {
    used.withLock { $0.values.contains { $0[value] != nil } }
  }

  /// Forgets one tenth of the values: those that expire first.
  ///
  /// It forgets several at once, so that the next calls need not search all values.
  private static func forgetSome(of used: inout [String: Date]) {
    let next = used.sorted { $0.value < $1.value }.prefix(limit / 10)
    for (value, _) in next { used[value] = nil }
  }
}
