#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a file must be before its content is believed.
///
/// A file that other users can read is closed to them and believed, since only its owner can have
/// written it. A file that other users can write is refused: its content may be theirs.
package struct FileTrust: Sendable {
  /// How many bytes it may have.
  let maximumBytes: Int64
  /// Whether it may be root's, who then decides who may read it.
  let mayBeRoots: Bool

  /// Files of tokens: the user's own, and as large as 100,000 accounts are.
  package static let tokens = FileTrust(maximumBytes: 256 * 1024 * 1024, mayBeRoots: false)
  /// Files of a key: an administrator may have put them there, for several users to read.
  package static let key = FileTrust(maximumBytes: 64 * 1024, mayBeRoots: true)
  /// Databases, of which only parts are ever read.
  package static let database = FileTrust(maximumBytes: .max, mayBeRoots: false)

  /// Whether other users can read the file, which they must not before it is believed.
  ///
  /// - Throws: What is wrong with a file that is not believed at all, and the remedy.
  package func needsMending(
    _ status: FileStatus, user: UInt32 = geteuid()
  ) throws(FileError) -> Bool {
    guard status.isRegular else {
      throw FileError(
        "it is a symbolic link, a folder, a pipe or a device, which is refused", code: EINVAL)
    }
    let isRoots = mayBeRoots && status.owner == 0
    guard status.owner == user || isRoots else {
      throw FileError(
        "it belongs to user \(status.owner) and this program runs as user \(user): run it as that "
          + "user, or set another folder for its files (XDG_STATE_HOME), or change the owner with "
          + "chown", code: EPERM)
    }
    guard status.mode & 0o022 == 0 else {
      throw FileError(
        "other users can write to it (its mode is \(octal(status.mode))), so that its content may "
          + "be theirs: remove it, or look at it and then set its mode to 0600", code: EPERM)
    }
    guard status.size <= maximumBytes else { throw tooLarge }
    return status.mode & 0o077 != 0 && !isRoots
  }

  /// Refuses an open file, or closes it to other users where that is needed.
  func check(_ file: FileDescriptor) throws(FileError) {
    guard try needsMending(file.status()) else { return }
    do throws(FileError) {
      try Self.closeToOthers(file)
    } catch {
      // An administrator who makes a file system read-only chooses the rights on it.
      guard error.code == EROFS else { throw error }
    }
  }

  /// Gives a file the mode 0600, unless it has it, and sees that the file system keeps it.
  static func closeToOthers(_ file: FileDescriptor) throws(FileError) {
    guard try file.status().mode != 0o600 else { return }
    do throws(FileError) {
      try file.setOwnersMode()
    } catch {
      guard error.code != EROFS else { throw error }
    }
    let mode = try file.status().mode
    // FAT has no modes of its own, and shows what it was mounted with.
    guard mode & 0o677 == 0o600 else {
      throw FileError(
        "its file system lets other users see it (its mode stays \(octal(mode))): choose another "
          + "folder", code: EPERM)
    }
  }

  var tooLarge: FileError {
    FileError("it has more than \(maximumBytes) bytes, which are too many", code: EFBIG)
  }
}

private func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
