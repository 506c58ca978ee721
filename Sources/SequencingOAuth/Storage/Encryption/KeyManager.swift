import Basics

/// Keeps the keys of an app's stores, each under a name.
///
/// The manager keeps them in memory only. A passphrase stays with the user, and a raw key with the
/// app; a key file stays on the disk.
public final class KeyManager: Sendable {
  private let keys = Registry<StoreKey>(of: "a key")
  private static let queue = BlockingQueue("KeyManager")

  /// Makes a manager without keys.
  public init() {}

  /// Adds a key under a name and returns the key.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name has a key already; that key stays.
  @discardableResult
  public func add(_ key: StoreKey, named name: String) throws(SQOAuthError) -> StoreKey {
    try keys.add(key, named: name)
  }

  /// Returns the key with this name, or `nil` if there is none.
  public func key(named name: String) -> StoreKey? {
    keys[name]
  }

  /// Removes the key with this name from memory and returns it; its key file, if any, stays.
  @discardableResult
  public func remove(named name: String) -> StoreKey? {
    keys.remove(name)
  }

  /// The names of all keys, sorted.
  public var names: [String] { keys.names }
}

extension KeyManager {
  /// Creates a key file with a random key, or checks the file if it exists.
  ///
  /// The file has mode 0600, in a folder that is created with mode 0700. If several processes
  /// create the file at the same time, all get the same key. With a passphrase, the key in the file
  /// is sealed.
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase`` or ``SQOAuthError/Code/storeDamaged`` if the
  ///   file exists and the key in it cannot be read.
  public static func makeKeyFile(
    at path: String, passphrase: String? = nil
  ) async throws(SQOAuthError) -> StoreKey {
    try await queue.run { () throws(SQOAuthError) in
      _ = try KeyFile(path: path, passphrase: passphrase).makeIfAbsent()
    }
    return .file(path, passphrase: passphrase)
  }

  /// Seals the key in a key file under another passphrase, or stores it in clear if `new` is `nil`.
  ///
  /// The key stays the same, so the stores that use it do not change.
  public static func changePassphrase(
    ofKeyFileAt path: String, from old: String?, to new: String?
  ) async throws(SQOAuthError) -> StoreKey {
    try await queue.run { () throws(SQOAuthError) in
      try KeyFile(path: path, passphrase: old).change(to: new)
    }
    return .file(path, passphrase: new)
  }
}
