import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why a file cannot be used: a system call failed, or the file breaks a rule.
///
/// The description goes on after "the file cannot be read:", and holds nothing of the content.
package struct FileError: Error, Hashable, CustomStringConvertible {
  /// The system's number for it.
  package let errno: Int32
  package let description: String

  /// A system call that failed.
  package init(call: String, errno: Int32) {
    self.errno = errno
    description = "\(call): \(String(cString: strerror(errno)))"
  }

  /// A rule that the file breaks, and what the user can do about it.
  init(_ reason: String, errno: Int32) {
    self.errno = errno
    description = reason
  }

  /// Another holder kept the lock file at a path for longer than the limit.
  init(locked path: String, for limit: Duration) {
    let seconds = limit / .seconds(1)
    let time = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    let holder = FileLock.holder(of: path) ?? "another process"
    self.init(
      "\(holder) keeps \(path.printable) locked, which was waited for \(time) s",
      errno: EWOULDBLOCK)
  }

  /// Whether another holder has the lock.
  package var isLocked: Bool { errno == EWOULDBLOCK }
}
