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

/// How a partial file is opened and locked, or refused.
extension PartialFile {
  /// The path of a destination that a file can be moved to.
  static func checked(_ destination: URL) throws(SQOAuthError) -> String {
    let path = destination.path(percentEncoded: false)
    guard destination.isFileURL, !path.hasSuffix("/"), !path.utf8.contains(0) else {
      throw SQOAuthError(.fileFailed, "the destination of a download is the URL of a file")
    }
    var status = stat()
    // Moved onto, a device or a pipe would be gone, and a link would point nowhere any more.
    if lstat(path, &status) == 0, !isOrdinary(status) {
      throw SQOAuthError(.fileFailed, "\(path) is there and is no ordinary file")
    }
    return path
  }

  /// Opens a file that nobody else has open here, and makes it where it is not there.
  static func lock(_ path: String) throws(SQOAuthError) -> Int32 {
    while true {
      let descriptor = open(
        path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw failed(path, HTTPFileError(code: errno)) }
      do throws(SQOAuthError) {
        if try isLocked(descriptor, path) { return descriptor }
      } catch {
        closeDescriptor(descriptor)
        throw error
      }
      closeDescriptor(descriptor)
    }
  }

  /// Locks it; `false` where it has got another name or none meanwhile, by a download that ended.
  private static func isLocked(_ descriptor: Int32, _ path: String) throws(SQOAuthError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno != EINTR else { continue }
      guard errno == EWOULDBLOCK else { throw failed(path, HTTPFileError(code: errno)) }
      throw SQOAuthError(.fileInUse, "another download has \(path) open; try again when it ends")
    }
    var status = stat()
    var named = stat()
    guard fstat(descriptor, &status) == 0 else { throw failed(path, HTTPFileError(code: errno)) }
    guard lstat(path, &named) == 0, named.st_ino == status.st_ino, named.st_dev == status.st_dev
    else { return false }
    // In a folder that others can write to, they may have put it there to read along.
    guard isOrdinary(status), status.st_uid == geteuid(), status.st_nlink == 1,
      fchmod(descriptor, 0o600) == 0
    else {
      throw SQOAuthError(
        .fileFailed, "\(path) is there and is no ordinary file of this user; remove it")
    }
    return true
  }

  private static func isOrdinary(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFREG
  }

  static func closeDescriptor(_ descriptor: Int32) {
    close(descriptor)
  }
}
