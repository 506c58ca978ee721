import SQBasics
import SQLibC

/// A lock that only one process at a time can hold, on a lock file.
///
/// Only the holder removes the lock file. When the holder's process ends, even if it is killed, the
/// kernel releases the lock.
///
/// - SeeAlso: flock(2)
package struct FileLock: Sendable {
  private let path: String
  /// The locked file.
  package let file: FileDescriptor

  /// Waits for the lock at a path, and creates the lock file if it is missing.
  ///
  /// It blocks the thread and tries repeatedly to take the lock, because a thread that waits inside
  /// the kernel cannot stop after a time limit. In the work of a `BlockingQueue`, the limit counts
  /// from the caller's call. It tries at least once, even if the limit has passed before.
  ///
  /// - Throws: After the limit, an error that names the lock file and the process that holds it.
  package static func wait(
    for path: String, limit: Duration = .seconds(30)
  ) throws(FileFailure) -> FileLock {
    let end = BlockingQueue.callStart + limit
    // In microseconds. The pause is short, so that this process can get the lock from a process
    // that keeps releasing and taking it.
    var pause: UInt32 = 250
    while true {
      // The last attempt comes after the limit: while the machine slept, the lock may have been
      // released.
      let isLast = ContinuousClock.now >= end
      if let lock = try ifFree(path) { return lock }
      guard !isLast else { throw FileFailure(locked: path, for: limit) }
      usleep(pause)
      pause = min(2 * pause, 8000)
    }
  }

  /// Takes the lock without waiting; returns `nil` while another holder has it.
  ///
  /// The lock is valid only on the file that the path names. The last holder may remove the file
  /// between the opening and the locking; this method then opens the new file. For a moment during
  /// the removal, the holder has a lease on the file, and opening it fails.
  ///
  /// With `mending`, a file of this user gets the mode 0600.
  package static func ifFree(
    _ path: String, mending: Bool = true
  ) throws(FileFailure) -> FileLock? {
    // These attempts are enough: other holders cannot remove the file that often.
    for _ in 0..<1000 {
      let file: FileDescriptor
      do throws(FileFailure) {
        file = try FileDescriptor.locking(path, mending: mending)
      } catch {
        guard error.isLocked else { throw error }
        return nil
      }
      do throws(FileFailure) {
        // Without this call, the process's umask might give the file a mode with which other runs
        // cannot open it.
        if mending, try file.status().isOwn { try? file.setOwnersMode() }
        guard try file.lock() else {
          file.close()
          return nil
        }
      } catch {
        // On a file system without locks no program holds this one, and no empty file must be left.
        if [ENOSYS, EOPNOTSUPP].contains(error.code), file.isAt(path),
          let status = try? file.status(), status.isOwn, status.size == 0
        {
          unlink(path)
        }
        file.close()
        throw error
      }
      if file.isAt(path) { return FileLock(path: path, file: file) }
      file.unlock()
    }
    throw FileFailure(
      "its file system reports several inode numbers for one file; choose another folder",
      code: ESTALE)
  }

  /// Releases the lock; call it once.
  package func release() {
    file.unlock()
  }

  /// Removes the lock file and releases the lock.
  ///
  /// Call it once, instead of ``release()``.
  package func remove() {
    guard file.isAt(path), unlink(path) == 0 else { return release() }
    LockRemoval.finish(file)
  }
}
