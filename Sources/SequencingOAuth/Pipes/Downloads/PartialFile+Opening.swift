#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The checks before a partial file is used, its lock, and the errors of its calls.
extension PartialFile {
  /// The path of a destination; throws if a file cannot be moved there.
  static func checked(_ destination: URL) throws(SQOAuthError) -> String {
    let path = destination.path(percentEncoded: false)
    guard destination.isFileURL, !path.hasSuffix("/"), !path.utf8.contains(0) else {
      throw SQOAuthError(.fileFailed, "the destination of a download must be the URL of a file")
    }
    // The move would replace a device, a pipe or a link by the file.
    if let status = try? FileStatus(at: path), !status.isRegular {
      throw SQOAuthError(.fileFailed, "\(path) exists and is not an ordinary file")
    }
    return path
  }

  /// Opens and locks a file, and creates it if it does not exist; throws if another download has
  /// it.
  static func lock(_ path: String) throws(SQOAuthError) -> FileLock {
    let lock = try reported(path) { () throws(FileError) in try FileLock.ifFree(path) }
    guard let lock else {
      throw SQOAuthError(.fileInUse, "another download has \(path) open; try again when it ends")
    }
    // If other users can write to the folder, one of them may have created the file to read it.
    guard (try? lock.file.status().isOwn) == true, (try? lock.file.setOwnersMode()) != nil else {
      lock.release()
      throw SQOAuthError(
        .fileFailed, "\(path) exists and is not an ordinary file of this user; remove it")
    }
    return lock
  }

  /// Runs file operations and turns their failure into an error that names a path.
  static func reported<Value>(
    _ path: String, _ calls: () throws(FileError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(FileError) {
      return try calls()
    } catch {
      throw SQOAuthError(.fileFailed, "\(path): \(error)", cause: error)
    }
  }
}
