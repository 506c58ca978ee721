#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a partial file is opened and locked, or refused.
extension PartialFile {
  /// The path of a destination that a file can be moved to.
  static func checked(_ destination: URL) throws(SQOAuthError) -> String {
    let path = destination.path(percentEncoded: false)
    guard destination.isFileURL, !path.hasSuffix("/"), !path.utf8.contains(0) else {
      throw SQOAuthError(.fileFailed, "the destination of a download is the URL of a file")
    }
    // Moved onto, a device or a pipe would be gone, and a link would point nowhere any more.
    if let status = try? FileStatus(at: path), !status.isRegular {
      throw SQOAuthError(.fileFailed, "\(path) is there and is no ordinary file")
    }
    return path
  }

  /// Opens a file that no other download has open, and makes it if it is not there.
  static func lock(_ path: String) throws(SQOAuthError) -> FileLock {
    let lock = try reported(path) { () throws(FileError) in try FileLock.ifFree(path) }
    guard let lock else {
      throw SQOAuthError(.fileInUse, "another download has \(path) open; try again when it ends")
    }
    // In a folder that others can write to, they may have put it there to read along.
    guard (try? lock.file.status().isOwn) == true, (try? lock.file.setOwnersMode()) != nil else {
      lock.release()
      throw SQOAuthError(
        .fileFailed, "\(path) is there and is no ordinary file of this user; remove it")
    }
    return lock
  }

  /// Runs calls on files, whose failure becomes an error that names a path.
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
