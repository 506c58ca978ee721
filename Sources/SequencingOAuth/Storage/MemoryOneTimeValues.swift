import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Remembers in memory which values were used, so it serves one process.
public final class MemoryOneTimeValues: OneTimeValues {
  /// The most values that are remembered.
  private static let limit = 10_000

  private let used = Locked<[String: Date]>([:])

  /// Makes a memory without a value.
  public init() {}

  /// Notes a value; returns `false` if it was noted before.
  ///
  /// It remembers at most 10 000 values; when there are more, the tenth that expires first is
  /// forgotten.
  public func isFirstUse(of value: String, until end: Date, at now: Date) -> Bool {
    used.withLock { used in
      guard used[value] == nil else { return false }
      if used.count >= Self.limit {
        used = used.filter { $0.value > now }
        if used.count >= Self.limit { Self.forgetSome(of: &used) }
      }
      used[value] = end
      return true
    }
  }

  /// Forgets a tenth, so that not each of the next calls has to look through all values.
  private static func forgetSome(of used: inout [String: Date]) {
    let next = used.sorted { $0.value < $1.value }.prefix(limit / 10)
    for (value, _) in next { used[value] = nil }
  }
}
