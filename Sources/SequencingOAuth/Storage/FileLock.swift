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
  package static func wait(for path: String) throws(FileError) -> FileLock {
    let lock = try FileLock(opening: path)
    try lock.take(LOCK_EX)
    return lock
  }

  /// The same without waiting: `nil` where the lock is not free.
  static func ifFree(_ path: String) throws(FileError) -> FileLock? {
    let lock = try FileLock(opening: path)
    do throws(FileError) {
      try lock.take(LOCK_EX | LOCK_NB)
      return lock
    } catch {
      guard error.errno == EWOULDBLOCK else { throw error }
      return nil
    }
  }

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
