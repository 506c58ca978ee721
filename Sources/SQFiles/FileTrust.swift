import SQLibC

/// The rules that decide whether the SDK trusts a file's content.
///
/// If other users can write to a file, the SDK refuses it, because they may have written its
/// content. If they can only read it, the file's purpose decides. A token file gets the mode 0600
/// and is trusted, because only its owner can have written it, and its tokens are replaced soon. A
/// key file is refused, as by ssh(1), because a key stays the same, and other users may already
/// have read it.
package struct FileTrust: Sendable {
  /// The largest size of the file in bytes.
  let maximumBytes: Int64
  /// Whether the file may belong to root; root then decides which users may read it.
  let mayBeRoots: Bool
  /// Whether a new file must get the mode 0600.
  var needsMode = true

  /// The rules for token files.
  ///
  /// A token file must belong to the user. The size limit allows 100,000 accounts.
  package static let tokens = FileTrust(maximumBytes: 256 * 1024 * 1024, mayBeRoots: false)
  /// The rules for key files.
  ///
  /// A key file may belong to root, because an administrator may have created it for several users
  /// to read.
  package static let key = FileTrust(maximumBytes: 64 * 1024, mayBeRoots: true)
  /// The rules for files without secrets in a file system without modes, such as FAT or a share.
  package static let withoutModes = FileTrust(
    maximumBytes: 64 * 1024, mayBeRoots: false, needsMode: false)
  /// The rules for databases: no size limit, because a database is read in parts.
  package static let database = FileTrust(maximumBytes: .max, mayBeRoots: false)

  /// Returns whether the file needs the mode 0600 before its content is trusted.
  ///
  /// - Throws: An error with the reason and the remedy, if the file must be refused.
  package func needsMending(
    _ status: FileStatus, user: UInt32 = geteuid(), isReadOnly: Bool = false
  ) throws(FileFailure) -> Bool {
    guard status.isRegular else {
      throw FileFailure(
        "it is a symbolic link, a folder, a pipe or a device; the SDK uses only ordinary files",
        code: EINVAL)
    }
    let isRoots = mayBeRoots && status.owner == 0
    guard status.owner == user || isRoots else {
      throw FileFailure(
        "it belongs to user \(status.owner) and this program runs as user \(user): run the program "
          + "as that user, change the file's owner with chown, or choose another folder, such as "
          + "with XDG_STATE_HOME", code: EPERM)
    }
    guard status.mode & 0o022 == 0 else {
      throw FileFailure(
        "other users can write to it (its mode is \(octal(status.mode))), so they may have written "
          + "its content: remove it, or look at it and then set its mode to 0600", code: EPERM)
    }
    guard status.size <= maximumBytes else { throw tooLarge }
    guard status.mode & 0o077 != 0, !isRoots else { return false }
    // On a read-only file system the administrator has chosen the permissions.
    guard !mayBeRoots || isReadOnly else {
      throw FileFailure(
        "other users can read it (its mode is \(octal(status.mode))), so they may have its secret: "
          + "create a new secret if you do not trust them, and set its mode with chmod 600",
        code: EPERM)
    }
    return true
  }

  /// Throws if an open file violates the rules; returns whether it needs the mode 0600.
  func check(_ file: FileDescriptor) throws(FileFailure) -> Bool {
    try needsMending(file.status(), isReadOnly: file.isReadOnly)
  }

  /// Gives an open file the mode 0600.
  static func mend(_ file: FileDescriptor) throws(FileFailure) {
    do throws(FileFailure) {
      try closeToOthers(file)
    } catch {
      // On a read-only file system the administrator has chosen the permissions.
      guard error.code == EROFS else { throw error }
    }
  }

  /// Gives a file the mode 0600, and checks that the file system keeps that mode.
  static func closeToOthers(_ file: FileDescriptor) throws(FileFailure) {
    guard try file.status().mode != 0o600 else { return }
    do throws(FileFailure) {
      try file.setOwnersMode()
    } catch {
      guard error.code != EROFS else { throw error }
    }
    let mode = try file.status().mode
    // FAT stores no modes; the mount options decide the mode of all its files.
    guard mode & 0o677 == 0o600 else {
      throw FileFailure(
        "its file system lets other users see it (its mode stays \(octal(mode))): choose another "
          + "folder", code: EPERM)
    }
  }

  var tooLarge: FileFailure {
    FileFailure("it is too large: the SDK reads at most \(maximumBytes) bytes", code: EFBIG)
  }
}

private func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
