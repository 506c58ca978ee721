package import Synchronization

/// For how long the thread of a caller whose request runs alone may be held.
package enum CallersPatience {
  /// The time in nanoseconds, which a test that is about such callers makes longer.
  package static let nanoseconds = Atomic<UInt64>(300_000)
}
