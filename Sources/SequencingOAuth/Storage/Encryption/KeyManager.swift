import Basics

/// The keys of an app's stores, each under a name.
///
/// It keeps them in memory only: what a key comes from is with the user, in the app, or in a file.
public final class KeyManager: Sendable {
  private let keys = Registry<StoreKey>(of: "a key")
  private static let queue = BlockingQueue("KeyManager")

  /// A manager without keys.
  public init() {}

  /// Adds a key, and returns it.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` where the name has one, which stays.
  @discardableResult
  public func add(_ key: StoreKey, named name: String) throws(SQOAuthError) -> StoreKey {
    try keys.add(key, named: name)
  }

  /// The key of a name.
  public func key(named name: String) -> StoreKey? {
    keys[name]
  }

  /// Forgets a key and returns it; a key file stays.
  @discardableResult
  public func remove(named name: String) -> StoreKey? {
    keys.remove(name)
  }

  /// The names of all keys, in their order.
  public var names: [String] { keys.names }
}

extension KeyManager {
  /// Makes a key file with a random key, or checks the one that is there.
  ///
  /// It has mode 0600, in a folder that is made with mode 0700. Of several processes that make one
  /// at the same time all get the same key. With a passphrase the key in it is sealed.
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase`` or ``SQOAuthError/Code/storeDamaged`` where a
  ///   file is there and cannot be opened.
  public static func makeKeyFile(
    at path: String, passphrase: String? = nil
  ) async throws(SQOAuthError) -> StoreKey {
    try await queue.run { () throws(SQOAuthError) in
      _ = try KeyFile(path: path, passphrase: passphrase).makeIfAbsent()
    }
    return .file(path, passphrase: passphrase)
  }

  /// Seals the key in a key file under another passphrase, or under none.
  ///
  /// The key stays the same, and so do the stores that have it.
  public static func changePassphrase(
    ofKeyFileAt path: String, from old: String?, to new: String?
  ) async throws(SQOAuthError) -> StoreKey {
    try await queue.run { () throws(SQOAuthError) in
      try KeyFile(path: path, passphrase: old).change(to: new)
    }
    return .file(path, passphrase: new)
  }
}
