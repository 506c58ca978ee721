import SQLibC
import Synchronization

/// A copy of a process that fork(2) made after an event loop had started.
///
/// Only the thread that forked goes on in the copy. A lock that another thread held stays locked
/// there for ever, and both processes share the descriptors of the loops.
///
/// - SeeAlso: pthread_atfork(3)
package enum ForkedCopy {
  private static let mark = Atomic(false)
  /// Whether the function that sets `mark` in a copy is registered; the first use registers it.
  private static let isWatching: Bool = {
    // Create `mark` before fork(2) can call the registered function. The first use of `mark` could
    // wait for a lock, and in the copy, that lock might never be released.
    mark.store(false, ordering: .relaxed)
    return pthread_atfork(nil, nil, { ForkedCopy.mark.store(true, ordering: .relaxed) }) == 0
  }()

  /// Makes ``isHere`` `true` in each copy that a later fork(2) makes, also in a copy of a copy.
  static func watch() { _ = isWatching }

  /// Whether this process is a forked copy.
  package static var isHere: Bool { mark.load(ordering: .relaxed) }

  /// A text for error messages: what is wrong in a forked copy, and what to do.
  package static let advice =
    "this process was forked after the SDK's first call, and the SDK's threads exist only in the "
    + "process that forked; fork before the first call, or start a program with exec after the "
    + "fork"
}
