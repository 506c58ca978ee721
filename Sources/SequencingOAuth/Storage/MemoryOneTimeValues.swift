import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Remembers in memory which values were used, so it serves one process.
///
/// For each purpose it remembers at most 10 000 values; when there are more, the tenth that expires
/// first is forgotten. So many web sign-ins, which anyone can begin, make it forget no logout token.
public final class MemoryOneTimeValues: OneTimeValues {
  /// The most values that are remembered for a purpose.
  private static let limit = 10_000

  /// The ends of the values, by the purpose and the value.
  private let used = Locked<[String: [String: Date]]>([:])

  /// Makes a memory without a value.
  public init() {}

  /// Notes a value without a purpose; returns `false` if it was noted before.
  public func isFirstUse(of value: String, until end: Date, at now: Date) -> Bool {
    isFirstUse(of: value, for: "", until: end, at: now)
  }

  /// Notes a value for a purpose; returns `false` if it was noted before.
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

  /// Whether a value was noted and is remembered.
  public func wasUsed(_ value: String) -> Bool? {
    used.withLock { $0.values.contains { $0[value] != nil } }
  }

  /// Forgets a tenth, so that not each of the next calls has to look through all values.
  private static func forgetSome(of used: inout [String: Date]) {
    let next = used.sorted { $0.value < $1.value }.prefix(limit / 10)
    for (value, _) in next { used[value] = nil }
  }
}
