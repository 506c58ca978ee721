#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open file, with every system call that the SDK makes on one.
///
/// No child process inherits it. ``close()`` or ``unlock()`` closes it, and not its last reference:
/// a lock must end at a known moment. Calls block. Reads, writes and locks go on after a signal.
package struct FileDescriptor: Sendable {
  /// The number by which the system knows the open file.
  let number: Int32

  /// The stream on which a program reports what goes wrong.
  static let standardError = FileDescriptor(number: STDERR_FILENO)

  private init(number: Int32) {
    self.number = number
  }

  private init(_ path: String, _ flags: Int32) throws(FileError) {
    number = open(path, flags | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw FileError(call: "open") }
  }

  /// Opens a file to read it.
  ///
  /// A symbolic link that is not followed is the error `ELOOP`.
  static func reading(
    _ path: String, followsLink: Bool = false
  ) throws(FileError) -> FileDescriptor {
    // To open a pipe would wait for a program that writes into it.
    let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
    return try FileDescriptor(path, followsLink ? flags : flags | O_NOFOLLOW)
  }

  /// Makes an empty file that only its owner can use; a file that has this path is removed.
  package static func making(_ path: String) throws(FileError) -> FileDescriptor {
    unlink(path)
    let file = try FileDescriptor(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    do throws(FileError) {
      // Whatever the process's umask took away, or the next run could not open it.
      try FileTrust.closeToOthers(file)
      return file
    } catch {
      file.close()
      unlink(path)
      throw error
    }
  }

  /// Opens a file to lock it, and makes it if it is not there.
  static func locking(_ path: String) throws(FileError) -> FileDescriptor {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    do throws(FileError) {
      return try FileDescriptor(path, flags)
    } catch {
      // A process that made the file under a narrow umask may not have opened it yet, or was killed.
      guard error.code == EACCES, let status = try FileStatus(at: path), status.isOwn,
        chmod(path, 0o600) == 0
      else { throw error }
    }
    return try FileDescriptor(path, flags)
  }

  /// Empties a file of the app's choice, or makes one that only its owner can read.
  static func writing(_ path: String) throws(FileError) -> FileDescriptor {
    let file = try FileDescriptor(path, O_WRONLY | O_CREAT | O_TRUNC)
    // A file that its owner could not open again is new: the umask took its rights away.
    if let status = try? file.status(), status.isRegular, status.mode & 0o777 != 0o600,
      status.mode & 0o777 | 0o600 == 0o600
    {
      try? file.setOwnersMode()
    }
    return file
  }

  /// Opens a folder, whose names ``sync()`` then makes survive a loss of power.
  static func folder(_ path: String) throws(FileError) -> FileDescriptor {
    try FileDescriptor(path, O_RDONLY | O_DIRECTORY)
  }

  package func close() { closeNumber(number) }
}

// Who may use the file.
extension FileDescriptor {
  func status() throws(FileError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw FileError(call: "fstat") }
    return FileStatus(status)
  }

  /// Gives the file the mode 0600.
  func setOwnersMode() throws(FileError) {
    guard fchmod(number, 0o600) == 0 else { throw FileError(call: "fchmod") }
  }

  /// Whether the path leads to this file, which another process may have removed or replaced.
  func isAt(_ path: String) -> Bool {
    guard let named = try? FileStatus(at: path), let status = try? status() else { return false }
    return status.isSameFile(as: named)
  }

  /// Locks the file, or returns `false` while another holder has it locked.
  ///
  /// - SeeAlso: flock(2)
  func lock() throws(FileError) -> Bool {
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      default: throw FileError(call: "flock")
      }
    }
    return true
  }

  /// Lets go of the lock and closes the file.
  func unlock() {
    // To close it would not be enough while a child that another thread has just forked still has
    // the descriptor.
    flock(number, LOCK_UN)
    close()
  }
}

// The system's function, whose name the method has too.
private func closeNumber(_ file: Int32) { _ = close(file) }
