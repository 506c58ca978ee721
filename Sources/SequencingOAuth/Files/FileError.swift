import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why a file cannot be used: a system call failed, or the file breaks a rule of the SDK.
///
/// It is the cause of an ``SQOAuthError``, and holds nothing of the file's content.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's number for the reason, an `errno`.
  public let code: Int32

  /// The reason, in words that go on after "the file cannot be read:".
  public let description: String

  /// A system call that failed.
  package init(call: String, code: Int32 = errno) {
    self.code = code
    description = "\(call): \(CLibrary.meaning(of: code))"
  }

  /// A rule that the file breaks, and what the user can do about it.
  init(_ reason: String, code: Int32) {
    self.code = code
    description = reason
  }

  /// Another holder kept the lock file at a path for longer than the limit.
  init(locked path: String, for limit: Duration) {
    let seconds = limit / .seconds(1)
    let time = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    let holder = FileLock.holder(of: path) ?? "another process"
    self.init(
      "\(holder) keeps \(path.printable) locked, which was waited for \(time) s",
      code: EWOULDBLOCK)
  }

  static let closed = FileError("it is closed", code: EBADF)
  static let notRegular = FileError("it is no ordinary file", code: EINVAL)

  /// Whether another holder has the lock.
  package var isLocked: Bool { code == EWOULDBLOCK }
}

extension FileError {
  /// Runs calls on files, whose failure becomes the error of a store that says what it could not do.
  package static func reported<Value>(
    _ failure: @autoclosure () -> String, _ calls: () throws(FileError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(FileError) {
      return try calls()
    } catch {
      throw SQOAuthError(.storeFailed, "\(failure()) (\(error))", cause: error)
    }
  }
}

extension FileError: LocalizedError {
  /// The reason, which is what `localizedDescription` says.
  public var errorDescription: String? { description }
}

/// The name that ``FileError`` had when only requests and responses from files threw it.
@available(*, deprecated, renamed: "FileError")
public typealias HTTPFileError = FileError
