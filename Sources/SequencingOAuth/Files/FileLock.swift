#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Exclusive use of something among all processes, held through a file.
///
/// Only the holder renames or removes the file. The kernel lets go of it when its holder ends, however that happens.
///
/// - SeeAlso: flock(2)
package struct FileLock: Sendable {
  private let path: String
  /// The locked file.
  let file: FileDescriptor

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
      let file = try FileDescriptor.locking(path)
      do throws(FileError) {
        // Whatever the process's umask took away, or the next process could not open it.
        if try file.status().isOwn { try? file.setOwnersMode() }
        guard try file.lock() else {
          file.close()
          return nil
        }
      } catch {
        file.close()
        throw error
      }
      if file.isAt(path) { return FileLock(path: path, file: file) }
      file.unlock()
    }
    throw FileError("its file system gives one file several numbers", code: ESTALE)
  }

  /// The process that has a file locked, such as "process 1234 (sq-demo)", if the kernel tells.
  ///
  /// It reads the locks of flock(2) and of fcntl(2), and takes none, so a program may ask about any
  /// file.
  package static func holder(of path: String) -> String? { LockHolder.name(of: path) }

  /// Lets go of the lock; called once.
  package func release() {
    file.unlock()
  }

  /// Removes the file and lets go of the lock; called once, instead of ``release()``.
  package func remove() {
    guard file.isAt(path), unlink(path) == 0 else { return release() }
    LockRemoval.finish(file)
  }
}
