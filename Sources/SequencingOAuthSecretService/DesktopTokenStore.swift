import Basics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The store for a desktop user: the keyring where there is one, else an encrypted file.
///
/// It chooses when the first account is saved. The keyring is taken where one answers and is open,
/// or has a display on which to ask the user; see ``SecretServiceTokenStore``. Otherwise it is
/// `tokens.sealed`, with its key in `tokens.key` beside it, both in `$XDG_STATE_HOME/SERVICE` or
/// `~/.local/state/SERVICE`; see `EncryptedFileTokenStore`.
///
/// The choice stays, in the file `tokens.place` there. Accounts in the file stay in it when a
/// keyring appears later. Accounts in the keyring are not forgotten when it does not answer: every
/// call then fails with `SQOAuthError.Code.storeFailed` instead of finding nothing. A first save
/// that the keyring refuses leaves the choice open. To choose anew, sign the accounts out and
/// remove `tokens.place` and `tokens.sealed`.
///
/// | the tokens are read by | keyring | encrypted file |
/// |---|---|---|
/// | other users of the machine | no | no |
/// | whoever has the disk, or a backup of the whole folder | no, if the keyring's password is not empty | yes: the key is there too |
/// | whoever has a copy of `tokens.sealed` alone | – | no |
/// | a program of the same user | yes, while it is unlocked | yes |
/// | root | yes, while it is unlocked | yes |
///
/// An app that needs more than the file gives asks for a passphrase and uses an
/// `EncryptedFileTokenStore` with it.
public final class DesktopTokenStore: TokenStore {
  /// Where accounts are kept.
  public enum Place: Sendable, Hashable, CustomStringConvertible {
    /// The desktop's keyring.
    case keyring
    /// A file, with the file of its key beside it.
    case encryptedFile(path: String)

    /// The place in words for a user.
    public var description: String {
      switch self {
      case .keyring: "the desktop's keyring"
      case .encryptedFile(let path):
        "the encrypted file \(path.printable), with its key beside it"
      }
    }
  }

  private let places: DesktopPlaces
  private let keyring: SecretServiceTokenStore
  private let file: EncryptedFileTokenStore
  private let queue = BlockingQueue("DesktopTokenStore")

  /// The store of a service, a name that keeps an app's accounts apart from those of others.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` for a name that is empty, starts with a
  ///   dot or has a slash, `SQOAuthError.Code.storeFailed` where there is no state folder.
  public convenience init(service: String) throws(SQOAuthError) {
    let environment = ProcessInfo.processInfo.environment
    self.init(
      keyring: Keyring(service: service), folder: try StateFolder.path(service: service),
      hasDisplay: ["WAYLAND_DISPLAY", "DISPLAY"].contains { environment[$0]?.isEmpty == false })
  }

  /// A store on a bus and in a folder of a test's choice.
  package convenience init(
    service: String, folder: String, bus: String, hasDisplay: Bool,
    limit: Duration = .seconds(120)
  ) {
    self.init(
      keyring: Keyring(service: service, bus: bus, limit: limit), folder: folder,
      hasDisplay: hasDisplay)
  }

  private init(keyring: Keyring, folder: String, hasDisplay: Bool) {
    places = DesktopPlaces(folder: folder, keyring: keyring, hasDisplay: hasDisplay)
    self.keyring = SecretServiceTokenStore(keyring: keyring, folder: folder)
    file = EncryptedFileTokenStore(path: places.sealedPath, key: .file(places.keyPath))
  }

  /// Where the accounts are, or would be if one were saved now; printed, it is words for a user.
  public var place: Place {
    get async throws(SQOAuthError) {
      try await run { places throws(SQOAuthError) in try places.next() }
    }
  }

  /// The record of an account.
  public func load(_ id: String) async throws -> AccountRecord? { try await store()?.load(id) }

  /// Adds or replaces a record; the first one chooses the place.
  public func save(_ record: AccountRecord) async throws {
    let place = try await run { places throws(SQOAuthError) in try places.save(record) }
    if place != .keyring { try await file.save(record) }
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws { try await store()?.erase(id) }

  /// The accounts that have a record.
  public func list() async throws -> [String] { try await store()?.list() ?? [] }

  /// The records of all accounts.
  public func all() async throws -> [AccountRecord] { try await store()?.all() ?? [] }

  /// The right to change an account, among all processes that share the state folder.
  public func lease(_ id: String) async throws -> AccountLease? {
    switch try await run({ places throws(SQOAuthError) in try places.remembered() }) {
    case .keyring: return try await keyring.lease(id)
    case .encryptedFile: return try await file.lease(id)
    case nil:
      // Both, since another process may choose meanwhile.
      guard let first = try await keyring.lease(id) else { return nil }
      do {
        if let second = try await file.lease(id) {
          return AccountLease {
            second.release()
            first.release()
          }
        }
      } catch {
        first.release()
        throw error
      }
      first.release()
      return nil
    }
  }

  /// The process that has the right to change an account.
  public func leaseHolder(_ id: String) async -> String? {
    if let holder = await keyring.leaseHolder(id) { return holder }
    return await file.leaseHolder(id)
  }

  /// Makes sure of the account's next record, in the keyring or beside the file.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    switch try await run({ places throws(SQOAuthError) in try places.next() }) {
    case .keyring: try await keyring.reserve(id, replacing: record)
    case .encryptedFile: try await file.reserve(id, replacing: record)
    }
  }

  private func store() async throws(SQOAuthError) -> (any TokenStore)? {
    switch try await run({ places throws(SQOAuthError) in try places.current() }) {
    case .keyring: keyring
    case .encryptedFile: file
    case nil: nil
    }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (DesktopPlaces) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { [places] () throws(SQOAuthError) in try body(places) }
  }
}
