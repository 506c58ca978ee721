#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Leases by lock files, for stores that several processes use.
///
/// Each account has an empty file in the folder, named by a digest of its id. The file stays when
/// the account goes: one that was removed could be locked by two at once. The kernel lets go of a
/// lock when its holder ends, however that happens.
///
/// - SeeAlso: flock(2)
public struct AccountLocks: Sendable {
  private let folder: String

  /// Leases by files in a folder, which is made, for its owner alone, when the first is taken.
  public init(folder: String) {
    self.folder = folder
  }

  /// The lease of an account, or `nil` while somebody else has it.
  ///
  /// It makes system calls on files, so call it on a thread that may block for them.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed``.
  public func lease(_ id: String) throws(SQOAuthError) -> AccountLease? {
    let path = path(id)
    do throws(FileError) {
      try PrivateFile(path: path).makeFolder()
      guard let lock = try FileLock.ifFree(path) else { return nil }
      return AccountLease { lock.release() }
    } catch {
      throw SQOAuthError(
        .storeFailed, "the account's lock file \(ErrorResponse.clean(path)) failed (\(error))",
        cause: error)
    }
  }

  /// Who has the lease of an account, in words, with the path of its lock file.
  ///
  /// It makes system calls on files, so call it on a thread that may block for them.
  public func holder(_ id: String) -> String? {
    let path = path(id)
    return FileLock.holder(of: path).map { "\($0), by the lock file \(ErrorResponse.clean(path))" }
  }

  private func path(_ id: String) -> String {
    "\(folder)/\(Hexadecimal.encode(Digest.sha256(id).prefix(16))).lock"
  }
}
