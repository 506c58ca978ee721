#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open file, with every system call that the SDK makes on one.
///
/// No child process inherits it. ``close()`` or ``unlock()`` closes it, and not its last reference:
/// a lock must end at a known moment. Every call blocks and repeats what a signal interrupts.
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

// What is in the file.
extension FileDescriptor {
  /// The bytes from where the file stands to its end, or the first so many of them.
  func content(atMost limit: Int) throws(FileError) -> Data {
    var content = Data()
    var buffer = Data(count: min(limit, 64 * 1024))
    while content.count < limit {
      let count = try fill(&buffer)
      guard count > 0 else { break }
      content.append(buffer.prefix(min(count, limit - content.count)))
    }
    return content
  }

  /// Reads as many bytes as the system gives at once, and returns their number: 0 at the end.
  func fill(_ buffer: inout Data) throws(FileError) -> Int {
    let count = buffer.withUnsafeMutableBytes { bytes in
      restarting { readBytes(number, bytes.baseAddress, bytes.count) }
    }
    guard count >= 0 else { throw FileError(call: "read") }
    return count
  }

  /// Writes all of the content where the file stands.
  func write(_ content: Data) throws(FileError) {
    var rest = content
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        restarting { writeBytes(number, bytes.baseAddress, bytes.count) }
      }
      guard count > 0 else { throw FileError(call: "write") }
      rest = rest.dropFirst(count)
    }
  }

  /// Writes all of the content at a distance from the file's start.
  func write(_ content: Data, at offset: Int64) throws(FileError) {
    var done = 0
    while done < content.count {
      done += try writeSome(content.dropFirst(done), at: offset + Int64(done))
    }
  }

  /// Writes some of the content at a distance from the file's start, and returns how many bytes.
  func writeSome(_ content: Data, at offset: Int64) throws(FileError) -> Int {
    let count = content.withUnsafeBytes { bytes in
      restarting { pwrite(number, bytes.baseAddress, bytes.count, off_t(offset)) }
    }
    guard count > 0 else { throw FileError(call: "pwrite") }
    return count
  }

  /// Makes room on the disk for a file of this size.
  func reserve(_ size: Int) throws(FileError) {
    #if os(Linux)
      // Unlike other calls, it returns its error.
      var error = EINTR
      while error == EINTR { error = posix_fallocate(number, 0, off_t(size)) }
      guard error == 0 else { throw FileError(call: "posix_fallocate", code: error) }
    #else
      try truncate(to: Int64(size))
    #endif
  }

  func truncate(to length: Int64) throws(FileError) {
    guard ftruncate(number, off_t(length)) == 0 else { throw FileError(call: "ftruncate") }
  }

  /// Returns when what was written survives a loss of power.
  package func sync() throws(FileError) {
    guard fsync(number) == 0 else { throw FileError(call: "fsync") }
  }

  private func restarting(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }
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

// The system's functions, whose names the methods have too.
private func closeNumber(_ file: Int32) { _ = close(file) }

private func readBytes(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, bytes, count)
}

private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
