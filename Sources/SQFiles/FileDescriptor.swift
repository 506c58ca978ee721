import SQBasics
import SQLibC

/// An open file, with methods for the system calls that the SDK makes on it.
///
/// No child process inherits a file that the SDK opened, and no such file gets the number of a
/// standard stream, even if the process has closed that stream. The file stays open until
/// ``close()`` or ``unlock()`` is called, even if no variable refers to it, because a lock must end
/// at a known moment. Calls block their thread. If a signal interrupts a read, a write, a sync or a
/// lock, the call is repeated.
package struct FileDescriptor: Sendable {
  /// The system's number for the open file.
  let number: Int32

  private init(_ path: String, _ flags: Int32) throws(FileFailure) {
    number = DescriptorNumber.aboveStandard(open(path, flags | O_CLOEXEC, 0o600))
    guard number >= 0 else { throw FileFailure(call: "open") }
  }

  /// Opens a file for reading.
  ///
  /// If the path is a symbolic link and `followsLink` is `false`, throws the error `ELOOP`.
  package static func reading(
    _ path: String, followsLink: Bool = false
  ) throws(FileFailure) -> FileDescriptor {
    // Without O_NONBLOCK, opening a pipe would wait for a program that writes into the pipe.
    let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
    return try FileDescriptor(path, followsLink ? flags : flags | O_NOFOLLOW)
  }

  /// Creates an empty file that only its owner can use; replaces a file that an earlier call left.
  ///
  /// Without `needsMode`, others may use the file if its file system has no modes.
  package static func making(
    _ path: String, needsMode: Bool = true
  ) throws(FileFailure) -> FileDescriptor {
    if let status = try FileStatus(at: path) {
      // An earlier call never leaves a link, a folder, or a file that others can use.
      guard status.isOwn, status.isClosedToOthers || !needsMode else {
        throw FileFailure(
          "the file \(path.printable) is in the way: another user or program created it, so it was "
            + "not changed; move it elsewhere", code: EEXIST)
      }
      guard unlink(path) == 0 || errno == ENOENT else { throw FileFailure(call: "unlink") }
    }
    let file = try FileDescriptor(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    do throws(FileFailure) {
      // Without this call, the process's umask might give the file a mode with which the next run
      // cannot open it.
      if needsMode { try FileTrust.closeToOthers(file) } else { try? file.setOwnersMode() }
      return file
    } catch {
      file.close()
      unlink(path)
      throw error
    }
  }

  /// Opens a file for locking, and creates it if it is missing.
  ///
  /// With `mending`, a file of this user that cannot be opened gets the mode 0600 first.
  static func locking(_ path: String, mending: Bool) throws(FileFailure) -> FileDescriptor {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    do throws(FileFailure) {
      return try FileDescriptor(path, flags)
    } catch {
      // A process with a strict umask may have created the file and not set its mode yet, or it may
      // have been killed before it could.
      guard mending, error.code == EACCES, let status = try FileStatus(at: path), status.isOwn,
        chmod(path, 0o600) == 0
      else { throw error }
    }
    return try FileDescriptor(path, flags)
  }

  /// Opens a file of the app's choice for writing and empties it, or creates it.
  ///
  /// Only the owner can read a new file. A server may have chosen the name, so a link, a pipe or a
  /// socket in the file's place is refused. A device such as `/dev/null` is accepted.
  package static func writing(_ path: String) throws(FileFailure) -> FileDescriptor {
    // Without O_NONBLOCK, opening a pipe would wait for a program that reads from the pipe.
    let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let file = try FileDescriptor(path, flags)
    do throws(FileFailure) {
      let status = try file.status()
      guard status.isRegular || status.isDevice else { throw .notRegular }
      _ = fcntl(file.number, F_SETFL, 0)
      guard status.isRegular else { return file }
      try file.truncate(to: 0)
      // If the mode has fewer permissions than 0600, the file is new, and the umask has removed
      // permissions that the owner needs to open it again.
      if status.mode & 0o777 != 0o600, status.mode & 0o777 | 0o600 == 0o600 {
        try? file.setOwnersMode()
      }
      return file
    } catch {
      file.close()
      throw error
    }
  }

  /// Opens a folder, for example to write its files' names to the disk with ``sync()``.
  static func folder(_ path: String) throws(FileFailure) -> FileDescriptor {
    try FileDescriptor(path, O_RDONLY | O_DIRECTORY)
  }

  package func close() { closeNumber(number) }
}

// The file's identity, its permissions and its lock.
extension FileDescriptor {
  package func status() throws(FileFailure) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw FileFailure(call: "fstat") }
    return FileStatus(status)
  }

  /// Whether the file's file system is mounted read-only.
  var isReadOnly: Bool {
    var status = statvfs()
    return fstatvfs(number, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Gives the file the mode 0600.
  package func setOwnersMode() throws(FileFailure) {
    guard fchmod(number, 0o600) == 0 else { throw FileFailure(call: "fchmod") }
  }

  /// Returns whether the path still names this file.
  ///
  /// Another process may have removed or replaced the file.
  package func isAt(_ path: String) -> Bool {
    guard let named = try? FileStatus(at: path), let status = try? status() else { return false }
    return status.isSameFile(as: named)
  }

  /// Locks the file without waiting; returns `false` while another holder has it locked.
  ///
  /// - SeeAlso: flock(2)
  func lock() throws(FileFailure) -> Bool {
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      default: throw FileFailure(call: "flock")
      }
    }
    return true
  }

  /// Releases the lock and closes the file.
  func unlock() {
    // Closing alone would not release the lock if another thread has just forked a child process
    // that still has the descriptor.
    flock(number, LOCK_UN)
    close()
  }
}

// The system's function. In a type with a method `close`, Swift would call the method.
private func closeNumber(_ file: Int32) { _ = close(file) }
