import SQBasics
import SQLibC

/// The reason why a file cannot be used: a system call failed, or the file violates a rule of the
/// SDK.
///
/// It never contains a part of the file's content.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's number for the error, an `errno`.
  package let code: Int32

  /// The reason in words, for use after a text such as "the file cannot be read:".
  package let description: String

  /// Creates the error for a failed system call.
  package init(call: String, code: Int32 = errno) {
    self.code = code
    description = "\(call): \(CLibrary.meaning(of: code))"
  }

  /// Creates an error from a text that says which rule the file violates and what to do about it.
  package init(_ reason: String, code: Int32) {
    self.code = code
    description = reason
  }

  /// Creates the error for a lock file that stayed locked longer than the time limit.
  package init(locked path: String, for limit: Duration) {
    let seconds = limit / .seconds(1)
    let time = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    let holder = LockHolder.name(of: path) ?? "another process"
    self.init(
      "\(holder) keeps \(path.printable) locked; the SDK waited \(time) s for the lock",
      code: EWOULDBLOCK)
  }

  package static let closed = FileFailure("the file is closed", code: EBADF)
  package static let folderIsNotText = FileFailure(
    "the name of its folder is not text in UTF-8; choose another folder", code: EILSEQ)
  package static let notRegular = FileFailure("it is not an ordinary file", code: EINVAL)

  /// Whether the reason is that another holder has the lock.
  package var isLocked: Bool { code == EWOULDBLOCK }
}
