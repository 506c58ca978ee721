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

/// The reason why a file cannot be used: a system call failed, or the file violates a rule of the
/// SDK.
///
/// It is the ``SQOAuthError/cause`` of an ``SQOAuthError``, and contains nothing of the file's
/// content.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's number for the error, an `errno`.
  public let code: Int32

  /// The reason in words, which completes a text such as "the file cannot be read:".
  public let description: String

  /// Creates the error for a failed system call.
  package init(call: String, code: Int32 = errno) {
    self.code = code
    description = "\(call): \(CLibrary.meaning(of: code))"
  }

  /// Creates an error from a text that says which rule the file violates and what to do about it.
  init(_ reason: String, code: Int32) {
    self.code = code
    description = reason
  }

  /// Creates the error for a lock file that stayed locked longer than the time limit.
  init(locked path: String, for limit: Duration) {
    let seconds = limit / .seconds(1)
    let time = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    let holder = FileLock.holder(of: path) ?? "another process"
    self.init(
      "\(holder) keeps \(path.printable) locked; the SDK waited \(time) s for the lock",
      code: EWOULDBLOCK)
  }

  static let closed = FileError("the file is closed", code: EBADF)
  /// The path of a download that must not replace a file has a file already.
  static let exists = FileError(
    "there is a file with this name; choose another one, or let the download replace it",
    code: EEXIST)
  /// A file that no download wrote is at the path of a download's partial file or of its record.
  static let foreign = FileError(
    "a file that no download has left is in the way, and stays as it is; move it, or choose "
      + "another destination", code: EEXIST)
  static let folderIsNotText = FileError(
    "the name of its folder is not text in UTF-8; choose another folder", code: EILSEQ)
  static let notRegular = FileError("it is not an ordinary file", code: EINVAL)

  /// Whether the reason is that another holder has the lock.
  package var isLocked: Bool { code == EWOULDBLOCK }
}

extension FileError {
  /// Runs calls on files, and turns their error into ``SQOAuthError/Code/storeFailed``.
  ///
  /// `failure` is the first part of the message: it names the file and says what failed.
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
  /// The reason in words, which `localizedDescription` returns.
  public var errorDescription: String? { description }
}

/// A former name of ``FileError``.
@available(*, deprecated, renamed: "FileError")
public typealias HTTPFileError = FileError
