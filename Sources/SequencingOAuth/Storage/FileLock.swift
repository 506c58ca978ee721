#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Exclusive use of something among all processes, held through a file that is never renamed.
///
/// The kernel lets go of it when its holder ends, however that happens.
///
/// - SeeAlso: flock(2)
package struct FileLock: Sendable {
  private let file: Int32

  /// Takes the lock of a path, whose file is made if it is not there; blocks the thread until then.
  ///
  /// The lock is asked for again and again: a thread that waits inside the kernel cannot give up.
  ///
  /// - Throws: After the limit an error that names the file and the process that has it locked.
  package static func wait(
    for path: String, limit: Duration = .seconds(30)
  ) throws(FileError) -> FileLock {
    let start = ContinuousClock.now
    // Short enough to find the gap between two uses by a process that takes it all the time.
    var pause: UInt32 = 250
    while true {
      if let lock = try ifFree(path) { return lock }
      guard ContinuousClock.now - start < limit else {
        throw FileError(locked: path, for: limit)
      }
      usleep(pause)
      pause = min(2 * pause, 8000)
    }
  }

  /// Takes the lock without waiting; `nil` while another holder has it.
  package static func ifFree(_ path: String) throws(FileError) -> FileLock? {
    let lock = try FileLock(opening: path)
    do throws(FileError) {
      try lock.take(LOCK_EX | LOCK_NB)
      return lock
    } catch {
      guard error.isLocked else { throw error }
      return nil
    }
  }

  /// The process that has a file locked, such as "process 1234 (sq-demo)", if the kernel tells.
  ///
  /// It reads the locks of flock(2) and of fcntl(2), and takes none, so a program may ask about any
  /// file.
  package static func holder(of path: String) -> String? { LockHolder.name(of: path) }

  private init(opening path: String) throws(FileError) {
    file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileError(call: "open", errno: errno) }
    // Whatever the process's umask took away, or the next process could not open it.
    fchmod(file, 0o600)
  }

  /// Closes the file where it fails.
  private func take(_ operation: Int32) throws(FileError) {
    while flock(file, operation) != 0 {
      let error = FileError(call: "flock", errno: errno)
      guard error.errno == EINTR else {
        close(file)
        throw error
      }
    }
  }

  /// Lets go of the lock; called once.
  package func release() {
    // To close it would not be enough while a child that another thread has just forked still has
    // the descriptor.
    flock(file, LOCK_UN)
    close(file)
  }
}
