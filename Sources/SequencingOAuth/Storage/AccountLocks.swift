import SQBasics
import SQCrypto
import SQFiles
import SQFoundation

/// An implementation of account leases by lock files, for a store that several processes use.
///
/// A lease gives one process at a time the right to change an account.
///
/// While an account's lease is held, the folder contains an empty file for it. The file's name is a
/// digest of the account's id. A program that can read the folder could guess the id and compare
/// the digest, so the file is removed when the lease ends. A killed process leaves its file in the
/// folder. The account's next lease removes that file, and so does the first lease of any process
/// that starts at least a minute later. When the process that holds a lock ends in any way, the
/// kernel releases the lock.
///
/// - SeeAlso: flock(2)
public struct AccountLocks: Sendable {
  private let folder: String
  private let unusedLocks: UnusedLocks

  /// Creates a value for lock files in a folder; the first lease creates the folder, for its owner
  /// only.
  ///
  /// A relative path begins at the process's working directory at this moment.
  public init(folder: String) {
    let folder = AbsolutePath.of(folder)
    self.folder = folder
    unusedLocks = UnusedLocks(folder: folder)
  }

  /// Acquires the lease of an account; returns `nil` while another caller or process has it.
  ///
  /// This makes system calls on files, so call it on a thread that may block.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed``, for example if the folder is on a full disk.
  public func lease(_ id: String) throws(SQOAuthError) -> AccountLease? {
    let path = path(id)
    let lock = try FileFailure.reported("the lock file \(path.printable) cannot be used") {
      () throws(FileFailure) in
      try PrivateFile(path: path).makeFolder()
      return try FileLock.ifFree(path)
    }
    guard let lock else { return nil }
    unusedLocks.removeOnce()
    return AccountLease { lock.remove() }
  }

  /// Describes the process that has the lease of an account, and names the account's lock file.
  ///
  /// This makes system calls on files, so call it on a thread that may block. It returns `nil` if
  /// the lease is free or if the kernel does not identify the process.
  public func holder(_ id: String) -> String? {
    let path = path(id)
    return LockHolder.name(of: path).map { "\($0), as the lock file \(path.printable) shows," }
  }

  private func path(_ id: String) -> String {
    "\(folder)/\(Self.name(of: id))"
  }

  /// Returns the name of an account's lock file; it is the same in every version of the SDK.
  package static func name(of id: String) -> String {
    Hexadecimal.encode(Digest.sha256(id).prefix(16)) + ".lock"
  }

  /// Returns whether a file name is the name of an account's lock file.
  static func isName(_ name: String) -> Bool {
    name.hasSuffix(".lock") && name.utf8.count == 37
      && Hexadecimal.decode("\(name.prefix(32))") != nil
  }
}
