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
  /// Its first use registers the function that sets the mark in a copy.
  private static let isWatching: Bool = {
    // Makes the mark before the function can be called, which must not wait for a lock.
    mark.store(false, ordering: .relaxed)
    return pthread_atfork(nil, nil, { ForkedCopy.mark.store(true, ordering: .relaxed) }) == 0
  }()

  /// Notices later calls of fork(2); they are also noticed in copies of copies.
  static func watch() { _ = isWatching }

  /// Whether this process is such a copy.
  package static var isHere: Bool { mark.load(ordering: .relaxed) }

  /// What is wrong in such a copy, and what to do, for the message of an error.
  package static let advice =
    "this process was forked after the SDK's first call, and the SDK's threads exist only in the "
    + "process that forked; fork before the first call, or start a program with exec after the "
    + "fork"
}
