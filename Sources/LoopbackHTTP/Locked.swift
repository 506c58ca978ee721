#if TSAN
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// A value behind a lock, in the form that ThreadSanitizer understands.
  ///
  /// ThreadSanitizer does not see the futex inside `Synchronization.Mutex` on Linux and reports
  /// races that are none, so `-D TSAN` builds use a pthread mutex with the same interface.
  package final class Locked<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    /// Makes a lock around a value.
    public init(_ value: sending Value) {
      self.value = value
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value)
    }

    package func withLockIfAvailable<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard pthread_mutex_trylock(mutex) == 0 else { return nil }
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value)
    }
  }

  /// As opaque as `Mutex`: reflection would read the value without the lock.
  extension Locked: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: []) }
  }
#else
  public import Synchronization

  /// A value behind a lock: decide under it, act outside it.
  ///
  /// No closure of a caller, no delegate, no store and no network call runs while one is held.
  public struct Locked<Value>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>

    /// Makes a lock around a value.
    @inlinable
    public init(_ value: consuming sending Value) {
      mutex = Mutex(value)
    }

    /// Runs a body with exclusive access to the value.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }

    /// The same where nobody has the lock; `nil`, without waiting, where somebody does.
    @inlinable
    public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      try mutex.withLockIfAvailable(body)
    }
  }
#endif
