import SQBasics
import SQFiles
import SQFoundation

extension AssertionSource {
  private static let files = BlockingQueue("assertions")

  /// Returns a source that reads a file, such as a projected token of Kubernetes, for each
  /// assertion.
  ///
  /// The platform replaces the file before its token expires. The file must contain one signed JSON
  /// Web Token, with or without white space after it, and have at most 128 KiB. The path may be a
  /// symbolic link. A relative path begins at the process's working directory at the time of this
  /// call. A file that cannot be read makes the request fail with
  /// ``SQOAuthError/Code/clientKeyFailed``, and the cause is a ``FileError``.
  public static func file(_ path: String) -> AssertionSource {
    let path = AbsolutePath.of(path)
    return AssertionSource("the file \"\(path.printable)\"") { _ in
      try await files.run { () throws(SQOAuthError) in try read(path) }
    }
  }

  private static func read(_ path: String) throws(SQOAuthError) -> String {
    let content: Data
    do throws(FileFailure) {
      // One byte more than allowed, so that a file that is too long is noticed.
      content = try FileDescriptor.content(
        of: path, followsLink: true, atMost: BroughtAssertion.longest + 1)
    } catch {
      throw SQOAuthError(
        .clientKeyFailed,
        "the file \"\(path.printable)\" with the assertion cannot be read (\(error))",
        cause: FileError(error))
    }
    guard content.count <= BroughtAssertion.longest else {
      throw unusable(path, "has more than \(BroughtAssertion.longest) bytes")
    }
    guard let text = String(bytes: content, encoding: .utf8) else {
      throw unusable(path, "is not UTF-8 text")
    }
    guard text.utf8.contains(where: { $0 > 0x20 }) else { throw unusable(path, "is empty") }
    return text
  }

  private static func unusable(_ path: String, _ reason: String) -> SQOAuthError {
    SQOAuthError(
      .clientKeyFailed, "the file \"\(path.printable)\" with the assertion \(reason)")
  }
}
