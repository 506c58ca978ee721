public import SQLibC

/// A value that only one thread at a time can read or change.
///
/// Decide under the lock and act outside it: while you hold the lock, call no closure of a caller,
/// no delegate, no store, no clock and no network, and release no object of a caller.
///
/// The lock is a pthread mutex, because ThreadSanitizer understands it in every build. On Linux,
/// ThreadSanitizer does not see the futex inside `Synchronization.Mutex`. In every app built with
/// ThreadSanitizer, it would report races that do not exist.
public struct Locked<Value>: ~Copyable, @unchecked Sendable {
  @usableFromInline struct Storage {
    @usableFromInline var mutex = pthread_mutex_t()
    @usableFromInline var value: Value

    @inlinable init(_ value: consuming Value) {
      self.value = value
    }
  }

  /// The mutex and the value in one heap block, so that the mutex keeps its address.
  @usableFromInline let storage: UnsafeMutablePointer<Storage>

  /// Creates a lock around a value.
  @inlinable
  public init(_ value: consuming sending Value) {
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(value))
    Self.prepare(mutex)
  }

  @inlinable
  deinit {
    pthread_mutex_destroy(mutex)
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// Runs a body with exclusive access to the value.
  ///
  /// The program traps if the body takes the same lock again. Without this check it would hang.
  @inlinable
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    let code = pthread_mutex_lock(mutex)
    precondition(code == 0, "this thread already holds the lock that it tries to take")
    defer { pthread_mutex_unlock(mutex) }
    return try body(&storage.pointee.value)
  }

  /// Runs a body with exclusive access to the value; returns `nil` at once if the lock is held.
  @inlinable
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { pthread_mutex_unlock(mutex) }
    return try body(&storage.pointee.value)
  }

  /// Changes the value under the lock, and releases what the body removes from it after the lock.
  ///
  /// Use it for a value that holds objects or closures of an app. The deinit of such an object may
  /// call the SDK, and so need the same lock.
  package borrowing func change<Result: Sendable>(
    _ body: (inout Value) -> Result
  ) -> Result where Value: Sendable {
    let (result, old) = withLock { value in
      let old = value
      return (body(&value), old)
    }
    withExtendedLifetime(old) {}
    return result
  }

  /// The address of the mutex: the first field of the block.
  @usableFromInline var mutex: UnsafeMutablePointer<pthread_mutex_t> {
    @inlinable get {
      UnsafeMutableRawPointer(storage).assumingMemoryBound(to: pthread_mutex_t.self)
    }
  }

  @usableFromInline static func prepare(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
    prepareMutex(mutex, kind: Int32(PTHREAD_MUTEX_ERRORCHECK))
  }
}

/// Initializes a mutex of a kind, such as `PTHREAD_MUTEX_RECURSIVE`.
func prepareMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, kind: Int32) {
  var attributes = pthread_mutexattr_t()
  pthread_mutexattr_init(&attributes)
  pthread_mutexattr_settype(&attributes, kind)
  let code = pthread_mutex_init(mutex, &attributes)
  precondition(code == 0, "the system has no memory for another lock")
  pthread_mutexattr_destroy(&attributes)
}
