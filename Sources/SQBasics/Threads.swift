import SQLibC

/// Functions that start threads for work that would block Swift's cooperative thread pool.
package enum Threads {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a detached thread; returns `false` if the system cannot create one.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let pointer = Unmanaged.passRetained(Work(body)).toOpaque()
    #if canImport(Darwin)
      var created: pthread_t?
      let code = pthread_create(&created, nil, { @Sendable in Threads.run($0) }, pointer)
    #else
      var created = pthread_t()
      let code = pthread_create(&created, nil, { @Sendable in Threads.run($0) }, pointer)
    #endif
    guard code == 0 else {
      Unmanaged<Work>.fromOpaque(pointer).release()
      return false
    }
    #if canImport(Darwin)
      if let created { pthread_detach(created) }
    #else
      pthread_detach(created)
    #endif
    return true
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
