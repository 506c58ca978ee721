package import SQFiles
public import SQFoundation

/// The reason why a file cannot be used: a system call failed, or the file violates a rule of the
/// SDK.
///
/// It is the ``SQOAuthError/cause`` of an ``SQOAuthError``, and never contains the file's content.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's number for the error, an `errno`.
  public let code: Int32

  /// The reason in words; it completes a text such as "the file cannot be read:".
  public let description: String

  package init(_ failure: FileFailure) {
    code = failure.code
    description = failure.description
  }
}

extension FileError: LocalizedError {
  /// The reason in words, for `localizedDescription`.
  public var errorDescription: String? { description }
}

/// The earlier name of ``FileError``.
@available(*, deprecated, renamed: "FileError")
public typealias HTTPFileError = FileError

extension FileFailure {
  /// Runs calls on files, and turns their error into ``SQOAuthError/Code/storeFailed``.
  ///
  /// `failure` is the first part of the message: it names the file and says what failed.
  package static func reported<Value>(
    _ failure: @autoclosure () -> String, _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(FileFailure) {
      return try calls()
    } catch {
      throw SQOAuthError(.storeFailed, "\(failure()) (\(error))", cause: FileError(error))
    }
  }
}
