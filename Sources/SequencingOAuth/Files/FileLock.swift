#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Exclusive use of something among all processes, held through a file that is never renamed.
///
/// The kernel lets go of it when its holder ends, however that happens.
///
/// - SeeAlso: flock(2)
package struct FileLock: Sendable {
  private let path: String
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
  ///
  /// A lock counts only on the file that the path leads to: its last holder may have removed the
  /// file between the moments in which it was opened and locked here.
  package static func ifFree(_ path: String) throws(FileError) -> FileLock? {
    // Far more often than other holders can come in between.
    for _ in 0..<1000 {
      let lock = try FileLock(opening: path)
      guard try lock.take() else { return nil }
      if lock.isInPlace { return lock }
      lock.release()
    }
    throw FileError("its file system gives one file several numbers", errno: ESTALE)
  }

  /// The process that has a file locked, such as "process 1234 (sq-demo)", if the kernel tells.
  ///
  /// It reads the locks of flock(2) and of fcntl(2), and takes none, so a program may ask about any
  /// file.
  package static func holder(of path: String) -> String? { LockHolder.name(of: path) }

  private init(opening path: String) throws(FileError) {
    self.path = path
    var file = Self.openFile(path)
    // A process that made the file under a narrow umask may not have opened it yet, or was killed.
    if file < 0, errno == EACCES, let status = try FileStatus(at: path), status.isRegular,
      status.owner == geteuid(), chmod(path, 0o600) == 0
    {
      file = Self.openFile(path)
    }
    guard file >= 0 else { throw FileError(call: "open", errno: errno) }
    self.file = file
    // Whatever the process's umask took away, or the next process could not open it.
    fchmod(file, 0o600)
  }

  private static func openFile(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
  }

  /// Locks the file, or closes it: `false` while another holder has the lock.
  private func take() throws(FileError) -> Bool {
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let error = FileError(call: "flock", errno: errno)
      if error.errno == EINTR { continue }
      close(file)
      guard error.isLocked else { throw error }
      return false
    }
    return true
  }

  private var isInPlace: Bool {
    guard let named = try? FileStatus(at: path), let status = try? FileStatus(of: file) else {
      return false
    }
    return status.isSameFile(as: named)
  }

  /// Lets go of the lock; called once.
  package func release() {
    LockRemoval.release(file)
  }

  /// Removes the file and lets go of the lock; called once, instead of ``release()``.
  package func remove() {
    guard isInPlace, unlink(path) == 0 else { return release() }
    LockRemoval.finish(file)
  }
}
