import SQLibC

/// Functions that start threads for work that would block Swift's cooperative thread pool.
package enum Threads {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a detached thread; returns `false` if the system cannot create one.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = make(body) else { return false }
    pthread_detach(thread)
    return true
  }

  /// Returns whether the system can create a thread now, by creating one and waiting for its end.
  package static func canStart() -> Bool {
    guard let thread = make({}) else { return false }
    return pthread_join(thread, nil) == 0
  }

  private static func make(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
    let pointer = Unmanaged.passRetained(Work(body)).toOpaque()
    #if canImport(Darwin)
      var created: pthread_t?
    #else
      var created = pthread_t()
    #endif
    guard pthread_create(&created, nil, { @Sendable in Threads.run($0) }, pointer) == 0 else {
      Unmanaged<Work>.fromOpaque(pointer).release()
      return nil
    }
    return created
  }

  private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let pointer else { return nil }
    Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
    return nil
  }

  /// Runs blocking work on its own thread and returns its result.
  ///
  /// Returns `nil` if the system cannot create a thread.
  package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value?
  {
    let result = OneShot<Value>()
    guard start({ result.resolve(body()) }) else { return nil }
    return await result.wait()
  }
}
