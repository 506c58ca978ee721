import SQFiles
import SQFoundation
import SequencingOAuth

/// The checks, the lock and the errors of a partial file.
extension PartialFile {
  /// Returns the path of a destination; throws if a file cannot be moved there.
  static func checked(_ destination: URL, replaces: Bool) throws(SQOAuthError) -> String {
    let path: String
    do throws(FileFailure) {
      path = try destination.systemPath
    } catch {
      throw SQOAuthError(
        .fileFailed, "the destination of a download cannot be used: \(error)",
        cause: FileError(error))
    }
    guard destination.isFileURL, !path.hasSuffix("/"), !path.utf8.contains(0) else {
      throw SQOAuthError(.fileFailed, "the destination of a download must be the URL of a file")
    }
    // The move would replace a device, a pipe or a link with the file.
    if let status = try? FileStatus(at: path) {
      guard status.isRegular else {
        throw SQOAuthError(.fileFailed, "\(path) exists and is not an ordinary file")
      }
      guard replaces else {
        throw SQOAuthError(
          .fileFailed, "\(path): \(FileFailure.exists)", cause: FileError(.exists))
      }
    }
    return path
  }

  /// Reads a record; returns `nil` if there is none, and throws if the file is not a record.
  static func record(at path: String) throws(SQOAuthError) -> Data? {
    try reported(path) { () throws(FileFailure) in
      guard let status = try FileStatus(at: path) else { return nil }
      guard status.isOwn, status.size <= 65536 else { throw .foreign }
      let content = try FileDescriptor.content(of: path, atMost: 65536)
      guard DownloadRecord.isRecord(content) else { throw .foreign }
      return content
    }
  }

  /// Removes the partial file's name from a complete file that also has the destination's name.
  ///
  /// A process that was killed during the move may have left the file with both names.
  static func finishMove(from path: String, to destination: String) throws(SQOAuthError) {
    try reported(path) { () throws(FileFailure) in
      guard try FileStatus.areSame(path, destination) else { return }
      // While the other process runs, it holds the lock, and removes the name itself.
      guard let lock = try FileLock.ifFree(path, mending: false) else { return }
      defer { lock.release() }
      if lock.file.isAt(destination) { try PrivateFile(path: path).remove() }
    }
  }

  /// Opens and locks a file, and creates it if it does not exist.
  ///
  /// It throws if another download has the file open, or if the file was not created by a download.
  static func lock(_ path: String, _ record: String) throws(SQOAuthError) -> FileLock {
    // Do not change the file's mode yet, because it may be a file of the user and not of a
    // download.
    let lock = try reported(path) { () throws(FileFailure) in
      try FileLock.ifFree(path, mending: false)
    }
    guard let lock else {
      throw SQOAuthError(.fileInUse, "another download has \(path) open; try again when it ends")
    }
    do throws(SQOAuthError) {
      try check(lock.file, path, record)
      return lock
    } catch {
      lock.release()
      throw error
    }
  }

  /// Throws if a locked file was not created by a download; otherwise makes it private.
  private static func check(
    _ file: FileDescriptor, _ path: String, _ record: String
  ) throws(SQOAuthError) {
    // If other users can write to the folder, one of them may have created the file to read the
    // download.
    guard let status = try? file.status(), status.isOwn else {
      throw SQOAuthError(
        .fileFailed, "\(path) exists and is not an ordinary file of this user; remove it")
    }
    let hasRecord = try self.record(at: record) != nil
    try reported(path) { () throws(FileFailure) in
      guard hasRecord || status.size == 0 else { throw .foreign }
      // FAT and many shares have no modes.
      try? file.setOwnersMode()
    }
  }

  /// Runs file operations and converts their errors into an error that names a path.
  static func reported<Value>(
    _ path: String, _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(FileFailure) {
      return try calls()
    } catch {
      throw SQOAuthError(.fileFailed, "\(path): \(error)", cause: FileError(error))
    }
  }
}
