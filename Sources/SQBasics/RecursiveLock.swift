import SQLibC

/// A lock that the thread holding it may take again, for changes that read and then write a value.
///
/// A ``Locked`` protects the values that other threads read. This lock only keeps two such changes
/// apart, so that neither overwrites the other's result.
package final class RecursiveLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// Creates a lock that no thread holds.
  package init() {
    mutex = .allocate(capacity: 1)
    prepareMutex(mutex, kind: Int32(PTHREAD_MUTEX_RECURSIVE))
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Waits until no other thread holds the lock, and takes it.
  package func lock() {
    pthread_mutex_lock(mutex)
  }

  /// Gives the lock back; call it on the same thread as ``lock()``, once for each call of that
  /// method.
  ///
  /// On another thread, it ends the program. Otherwise the first thread would have the lock for
  /// ever, and every later change would wait.
  package func unlock() {
    guard pthread_mutex_unlock(mutex) == 0 else {
      fatalError(
        "a value of the SDK was changed in place across an await, so the change ended on another "
          + "thread than it began on: change a copy, and assign the copy")
    }
  }
}
