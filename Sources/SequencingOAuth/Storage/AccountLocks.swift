import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Leases by lock files, for stores that several processes use.
///
/// An account has an empty file in the folder while its lease is held, named by a digest of the
/// account's id. A program that can read the folder can try names against the digest, so the file
/// goes with the lease. A process that is killed leaves its file; the account's next lease removes it,
/// or the first lease of a process that starts a minute later. The kernel lets go of a lock when its
/// holder ends, however that happens.
///
/// - SeeAlso: flock(2)
public struct AccountLocks: Sendable {
  private let folder: String
  private let leftovers: LeftoverLocks

  /// Leases by files in a folder, which is made, for its owner alone, when the first is taken.
  public init(folder: String) {
    self.folder = folder
    leftovers = LeftoverLocks(folder: folder)
  }

  /// The lease of an account, or `nil` while somebody else has it.
  ///
  /// It makes system calls on files, so call it on a thread that may block for them.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed``, for example if the folder is on a full disk.
  public func lease(_ id: String) throws(SQOAuthError) -> AccountLease? {
    let path = path(id)
    let lock = try FileError.reported("the account's lock file \(path.printable) failed") {
      () throws(FileError) in
      try PrivateFile(path: path).makeFolder()
      return try FileLock.ifFree(path)
    }
    guard let lock else { return nil }
    leftovers.removeOnce()
    return AccountLease { lock.remove() }
  }

  /// Who has the lease of an account, in words, with the path of its lock file.
  ///
  /// It makes system calls on files, so call it on a thread that may block for them.
  public func holder(_ id: String) -> String? {
    let path = path(id)
    return FileLock.holder(of: path).map { "\($0), by the lock file \(path.printable)" }
  }

  private func path(_ id: String) -> String {
    "\(folder)/\(Self.name(of: id))"
  }

  /// The name that every version of the SDK gives an account's lock file.
  package static func name(of id: String) -> String {
    Hexadecimal.encode(Digest.sha256(id).prefix(16)) + ".lock"
  }

  /// Whether a file in the folder is an account's lock file.
  static func isName(_ name: String) -> Bool {
    name.hasSuffix(".lock") && name.utf8.count == 37
      && Hexadecimal.decode("\(name.prefix(32))") != nil
  }
}
