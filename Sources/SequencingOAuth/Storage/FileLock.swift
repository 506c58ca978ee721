#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Exclusive use of something among all processes, held through a file that is never renamed.
///
/// The kernel lets go of it when its holder ends, however that happens. Taking it blocks the
/// thread.
struct FileLock {
  private let file: Int32

  /// Waits for the lock of a path; its file is made if it is not there.
  ///
  /// - SeeAlso: flock(2)
  init(path: String) throws(FileError) {
    file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileError(call: "open", errno: errno) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let error = FileError(call: "flock", errno: errno)
        close(file)
        throw error
      }
    }
  }

  /// Lets go of the lock; called once.
  func release() {
    close(file)
  }
}
