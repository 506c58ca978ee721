import Dispatch

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keeps tokens in one file, in clear, that only its owner can read.
///
/// The file has mode 0600, in a folder that is made with mode 0700; it is replaced whole and is
/// safe on disk when a call returns. Several processes may use it at once. It protects against
/// other users of the machine, not against a program that runs as the same user, nor against
/// whoever has the disk.
public final class FileTokenStore: TokenStore {
  /// Where the file is.
  public let path: String
  private let file: PrivateFile
  private let locks: AccountLocks
  // Its calls block, so they run on a thread of their own and not in the cooperative pool.
  private let queue = DispatchQueue(label: "SequencingOAuth.FileTokenStore")

  /// A store in a file of the app's choice, which need not exist yet.
  public init(path: String) {
    self.path = path
    file = PrivateFile(path: path)
    locks = AccountLocks(folder: path + ".locks")
  }

  /// A store in the user's state folder, under a name that keeps apps apart.
  ///
  /// That is `$XDG_STATE_HOME/SERVICE/tokens.json`, or `~/.local/state/SERVICE/tokens.json`.
  public convenience init(service: String) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.json")
  }

  /// The record of an account.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { file throws(SQOAuthError) in try TokenDocument(file).accounts[id] }
  }

  /// Adds or replaces a record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await change { $0.accounts[record.id] = record }
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await change { $0.accounts[id] = nil }
  }

  /// The accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await run { file throws(SQOAuthError) in try TokenDocument(file).accounts.keys.sorted() }
  }

  /// The records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    try await run { file throws(SQOAuthError) in
      try TokenDocument(file).accounts.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// The right to change an account, among all processes that use the file.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    let locks = locks
    return try await run { _ throws(SQOAuthError) in try locks.lease(id) }
  }

  /// Reads, changes and writes the file while no other process does.
  private func change(
    _ body: @escaping @Sendable (inout TokenDocument) -> Void
  ) async throws(SQOAuthError) {
    try await run { file throws(SQOAuthError) in
      let lock = try Self.lock(file)
      defer { lock.release() }
      var document = try TokenDocument(file)
      body(&document)
      try document.write(to: file)
    }
  }

  private static func lock(_ file: PrivateFile) throws(SQOAuthError) -> FileLock {
    do throws(FileError) {
      try file.makeFolder()
      // Not the file itself: that one is renamed over.
      return try FileLock.wait(for: file.path + ".lock")
    } catch {
      throw TokenDocument.failure("be locked", file, error)
    }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (PrivateFile) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let file = file
    let result = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: Result { () throws(SQOAuthError) in try body(file) })
      }
    }
    return try result.get()
  }
}
