import SQBasics
import SQLibC

/// A check for the resources that Swift's tasks need to run: threads and open files.
///
/// Without threads, the runtime waits forever. Without files, it crashes. Neither case has a
/// message, so the program checks first.
enum SystemResources {
  /// The number of threads that a command needs at the same time.
  private static let threads = 6
  /// The number of files that a command needs to have open at the same time.
  private static let files = 8

  /// Fails if the system gives the program too few threads or files.
  static func check() throws(Failure) {
    try checkFiles()
    try checkThreads()
  }

  private static func checkFiles() throws(Failure) {
    var opened: [Int32] = []
    defer { opened.forEach { close($0) } }
    while opened.count < files {
      let file = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
      guard file >= 0 else {
        // fcntl reports EINVAL if the limit allows no descriptor with the number 3 or above.
        throw lacks("open files", "fcntl", errno == EINVAL ? EMFILE : errno, remedy: "ulimit -n")
      }
      opened.append(file)
    }
  }

  /// Starts threads that wait until all are started, then lets them end.
  private static func checkThreads() throws(Failure) {
    var gate = pthread_mutex_t()
    pthread_mutex_init(&gate, nil)
    defer { pthread_mutex_destroy(&gate) }
    var started: [pthread_t] = []
    var code: Int32 = 0
    withUnsafeMutablePointer(to: &gate) { gate in
      pthread_mutex_lock(gate)
      while started.count < threads, code == 0 {
        #if canImport(Darwin)
          var thread: pthread_t?
          code = pthread_create(&thread, nil, { @Sendable in waitAtGate($0) }, gate)
          if let thread, code == 0 { started.append(thread) }
        #else
          var thread = pthread_t()
          code = pthread_create(&thread, nil, waitAtGate, gate)
          if code == 0 { started.append(thread) }
        #endif
      }
      pthread_mutex_unlock(gate)
      for thread in started { pthread_join(thread, nil) }
    }
    guard code == 0 else {
      throw lacks("threads", "pthread_create", code, remedy: "ulimit -u, or a service's TasksMax")
    }
  }

  private static func lacks(
    _ what: String, _ call: String, _ code: Int32, remedy: String
  ) -> Failure {
    Failure(
      "no_room",
      "the system gives this program too few \(what) (\(call): \(CLibrary.meaning(of: code))); "
        + "raise the limit (\(remedy))", status: .notAuthorized)
  }
}

/// Waits until a gate opens; a new thread runs this function, so it belongs to no actor.
private func waitAtGate(_ gate: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self)
  if let gate, pthread_mutex_lock(gate) == 0 { pthread_mutex_unlock(gate) }
  return nil
}
