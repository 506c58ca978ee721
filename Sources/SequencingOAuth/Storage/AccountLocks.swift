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
    let name = Hexadecimal.encode(Digest.sha256(id).prefix(16))
    let path = "\(folder)/\(name).lock"
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
}
