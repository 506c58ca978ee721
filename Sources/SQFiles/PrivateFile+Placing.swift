import SQLibC

/// Operations for files that are written in place, such as a database or a download.
extension PrivateFile {
  /// Gives the file at `complete` this file's path as a second name.
  ///
  /// Returns `false` if this file's path already has a file.
  ///
  /// - SeeAlso: link(2)
  package func place(_ complete: String) throws(FileFailure) -> Bool {
    guard try addName(to: complete) else { return false }
    try syncFolder()
    return true
  }

  private func addName(to complete: String) throws(FileFailure) -> Bool {
    // link(2), unlike rename(2), replaces no file.
    guard link(complete, path) == 0 else {
      guard errno == EEXIST else { throw FileFailure(call: "link") }
      return false
    }
    return true
  }

  /// Moves the file to another path, and replaces a file there.
  ///
  /// - SeeAlso: rename(2)
  package func move(to other: String) throws(FileFailure) {
    guard rename(path, other) == 0 else { throw FileFailure(call: "rename") }
  }

  /// Moves the file to another path; returns `false` and moves nothing if that path has a file.
  ///
  /// If the process is killed meanwhile, or the old name cannot be removed, the file has both names.
  /// The folder is not synced.
  package func moveIfFree(to other: String) throws(FileFailure) -> Bool {
    do throws(FileFailure) {
      guard try PrivateFile(path: other).addName(to: path) else { return false }
      try? remove()
      return true
    } catch {
      // FAT and similar file systems give a file only one name.
      guard [EPERM, EOPNOTSUPP, ENOSYS].contains(error.code) else { throw error }
    }
    let claim = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard claim >= 0 else {
      guard errno == EEXIST else { throw FileFailure(call: "open") }
      return false
    }
    close(claim)
    do throws(FileFailure) {
      try move(to: other)
    } catch {
      unlink(other)
      throw error
    }
    return true
  }

  /// Returns the folder's path without symbolic links.
  package func realFolder() throws(FileFailure) -> String {
    guard let real = realpath(folder, nil) else { throw FileFailure(call: "realpath") }
    defer { free(real) }
    guard let folder = String(validatingCString: real) else { throw .folderIsNotText }
    return folder
  }

  /// Writes the file to the disk, so that it survives a loss of power.
  package func sync() throws(FileFailure) {
    let file = try FileDescriptor.reading(path)
    defer { file.close() }
    try file.sync()
  }

  /// Gives the file the mode 0600 without opening it, because SQLite loses its locks on a file if
  /// the process closes another descriptor for it.
  package func closeToOthers() throws(FileFailure) {
    // On a read-only file system the administrator has chosen the permissions.
    guard chmod(path, 0o600) == 0 || errno == EROFS else { throw FileFailure(call: "chmod") }
  }
}
