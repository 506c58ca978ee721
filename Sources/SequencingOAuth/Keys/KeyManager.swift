import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keeps the keys of an app's stores and the keys with which it signs, each under a name.
///
/// The manager keeps them in memory only. A passphrase stays with the user, and a raw key with the
/// app; a key file stays on the disk. A store's key and a client's key may have the same name.
public final class KeyManager: Sendable {
  private let keys = Registry<StoreKey>(of: "a key")
  private let clientKeys = Registry<ClientKey>(of: "a client key")
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

  /// The names of all keys of stores, sorted.
  public var names: [String] { keys.names }

  // MARK: Keys that sign

  /// Adds a key with which the client signs under a name, and returns the key.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name has such a key already, which stays.
  @discardableResult
  public func add(_ key: ClientKey, named name: String) throws(SQOAuthError) -> ClientKey {
    try clientKeys.add(key, named: name)
  }

  /// Returns the key with this name with which the client signs, or `nil` if there is none.
  public func clientKey(named name: String) -> ClientKey? {
    clientKeys[name]
  }

  /// Removes such a key from memory and returns it; its key file, if any, stays.
  @discardableResult
  public func removeClientKey(named name: String) -> ClientKey? {
    clientKeys.remove(name)
  }

  /// The names of all keys with which the client signs, sorted.
  public var clientKeyNames: [String] { clientKeys.names }
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

  /// Creates a file with a new key with which the client signs, or reads the file if it exists.
  ///
  /// The file has mode 0600, in a folder that is created with mode 0700. It contains PKCS#8 in PEM
  /// (RFC 7468), sealed if there is a passphrase; OpenSSL's programs read it. If several processes
  /// create the file at the same time, all get the same key. Register the key's
  /// ``ClientKey/publicJWK`` at the server, and keep the file: a server knows the client by it.
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase``, or ``SQOAuthError/Code/invalidConfiguration``
  ///   if the file exists and its key cannot be read or does not suit the algorithm;
  ///   ``SQOAuthError/Code/storeFailed`` if the file cannot be read or written.
  public static func makeClientKeyFile(
    at path: String, algorithm: JWSAlgorithm = .es256, passphrase: String? = nil
  ) async throws(SQOAuthError) -> ClientKey {
    try await queue.run { () throws(SQOAuthError) in
      let file = SecretFile("the key file", path: path)
      return try file.readOrMake { content throws(SQOAuthError) in
        do throws(SQOAuthError) {
          return try ClientKey(
            pem: String(decoding: content, as: UTF8.self), algorithm: algorithm,
            passphrase: passphrase)
        } catch {
          throw file.failure(error.code, "cannot be used: \(error.message)", error)
        }
      } make: { () throws(SQOAuthError) in
        let key = try ClientKey(generating: algorithm)
        return (key, content: Data(try key.pem(passphrase: passphrase).utf8))
      }
    }
  }

  /// Creates such a file in the user's state folder, in a subfolder named after the app's service,
  /// or reads the file.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/client.pem`, or `~/.local/state/SERVICE/client.pem`. The
  /// errors are those of ``makeClientKeyFile(at:algorithm:passphrase:)``, and
  /// ``SQOAuthError/Code/invalidConfiguration`` for a name that is no folder's.
  public static func makeClientKeyFile(
    service: String, algorithm: JWSAlgorithm = .es256, passphrase: String? = nil
  ) async throws(SQOAuthError) -> ClientKey {
    try await makeClientKeyFile(
      at: try StateFolder.path(service: service) + "/client.pem", algorithm: algorithm,
      passphrase: passphrase)
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
