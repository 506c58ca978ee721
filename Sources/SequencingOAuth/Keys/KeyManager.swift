import SQBasics
import SQFiles
import SQFoundation

/// A collection of an app's store keys and client keys, each under a name.
///
/// The manager keeps the keys only in memory. It never stores a passphrase or a raw key; a key file
/// stays on the disk. A store key and a client key may have the same name.
public final class KeyManager: Sendable {
  private let keys = Registry<StoreKey>(of: "a key")
  private let clientKeys = Registry<ClientKey>(of: "a client key")
  private static let queue = BlockingQueue("KeyManager")

  /// Creates a manager without keys.
  public init() {}

  /// Adds a store key under a name, and returns the key.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name has a key already; that key stays.
  @discardableResult
  public func add(_ key: StoreKey, named name: String) throws(SQOAuthError) -> StoreKey {
    try keys.add(key, named: name)
  }

  /// Returns the store key with this name, or `nil` if there is none.
  public func key(named name: String) -> StoreKey? {
    keys[name]
  }

  /// Removes the store key with this name from memory, and returns it; its key file, if any, stays.
  @discardableResult
  public func remove(named name: String) -> StoreKey? {
    keys.remove(name)
  }

  /// The names of all store keys, sorted.
  public var names: [String] { keys.names }

  // MARK: Keys that sign

  /// Adds a client key under a name, and returns the key.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name has a client key already; that key
  ///   stays.
  @discardableResult
  public func add(_ key: ClientKey, named name: String) throws(SQOAuthError) -> ClientKey {
    try clientKeys.add(key, named: name)
  }

  /// Returns the client key with this name, or `nil` if there is none.
  public func clientKey(named name: String) -> ClientKey? {
    clientKeys[name]
  }

  /// Removes the client key with this name from memory, and returns it; its key file, if any,
  /// stays.
  @discardableResult
  public func removeClientKey(named name: String) -> ClientKey? {
    clientKeys.remove(name)
  }

  /// The names of all client keys, sorted.
  public var clientKeyNames: [String] { clientKeys.names }
}

extension KeyManager {
  /// Creates a file with a random store key, or checks the file if it exists.
  ///
  /// The file has mode 0600, in a folder that is created with mode 0700. If several processes
  /// create the file at the same time, all get the same key. With a passphrase, the key in the file
  /// is encrypted.
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase``, ``SQOAuthError/Code/storeDamaged`` or
  ///   ``SQOAuthError/Code/storeTooNew`` if the file exists and the key in it cannot be read;
  ///   ``SQOAuthError/Code/storeFailed`` if the file cannot be read or written;
  ///   ``SQOAuthError/Code/invalidConfiguration`` for an empty passphrase.
  public static func makeKeyFile(
    at path: String, passphrase: String? = nil
  ) async throws(SQOAuthError) -> StoreKey {
    let path = AbsolutePath.of(path)
    try await queue.run { () throws(SQOAuthError) in
      _ = try KeyFile(path: path, passphrase: passphrase).makeIfAbsent()
    }
    return .file(path, passphrase: passphrase)
  }

  /// Creates a file with a new client key, or reads the file if it exists.
  ///
  /// The file has mode 0600, in a folder that is created with mode 0700. It contains PKCS#8 in PEM
  /// (RFC 7468), encrypted if there is a passphrase; OpenSSL's programs can read it. If several
  /// processes create the file at the same time, all get the same key. Register the key's
  /// ``ClientKey/publicJWK`` at the server, and keep the file, because the server recognizes the
  /// client by this key.
  ///
  /// - Throws: The errors of ``ClientKey/init(pem:algorithm:keyID:passphrase:)`` if the file
  ///   exists, and those of ``ClientKey/init(generating:)`` and ``ClientKey/pem(passphrase:)`` if
  ///   it does not; ``SQOAuthError/Code/storeFailed`` if the file cannot be read or written.
  public static func makeClientKeyFile(
    at path: String, algorithm: JWSAlgorithm = .es256, passphrase: String? = nil
  ) async throws(SQOAuthError) -> ClientKey {
    let path = AbsolutePath.of(path)
    return try await queue.run { () throws(SQOAuthError) in
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

  /// Creates a file with a new client key in the service's state folder, or reads the file if it
  /// exists.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/client.pem`, or `~/.local/state/SERVICE/client.pem`. If
  /// neither `XDG_STATE_HOME` nor `HOME` names a folder, it is
  /// `$STATE_DIRECTORY/SERVICE/client.pem`. The errors are those of
  /// ``makeClientKeyFile(at:algorithm:passphrase:)``, and
  /// ``SQOAuthError/Code/invalidConfiguration`` for a name that no folder can have.
  public static func makeClientKeyFile(
    service: String, algorithm: JWSAlgorithm = .es256, passphrase: String? = nil
  ) async throws(SQOAuthError) -> ClientKey {
    try await makeClientKeyFile(
      at: try StateFolder.path(service: service) + "/client.pem", algorithm: algorithm,
      passphrase: passphrase)
  }

  /// Changes the passphrase of a store's key file; with `nil` for `new`, the key is stored
  /// unencrypted.
  ///
  /// The key stays the same, so the stores that use it do not change.
  ///
  /// - Throws: The errors of ``makeKeyFile(at:passphrase:)``; ``SQOAuthError/Code/storeFailed`` if
  ///   the file does not exist.
  public static func changePassphrase(
    ofKeyFileAt path: String, from old: String?, to new: String?
  ) async throws(SQOAuthError) -> StoreKey {
    let path = AbsolutePath.of(path)
    try await queue.run { () throws(SQOAuthError) in
      try KeyFile(path: path, passphrase: old).change(to: new)
    }
    return .file(path, passphrase: new)
  }
}
