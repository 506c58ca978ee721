import SQBasics
import SequencingOAuth

/// The D-Bus address of a keyring, and the library to call it with.
struct KeyringAddress: Sendable, Hashable {
  /// The address of the session bus; `nil` for the address in the environment.
  var bus: String?
  /// The path of a libsecret library; `nil` for the system's library.
  var library: String?
}

/// The session with a keyring that all stores of the process share.
///
/// KeePassXC asks the user before a program reads an item, and remembers the answer while that
/// program's connection lasts. With a connection for each call, it would ask several times during
/// one refresh, even after the server has already consumed the refresh token.
final class SharedKeyring: Sendable {
  private static let all = Locked<[KeyringAddress: SharedKeyring]>([:])

  private let address: KeyringAddress
  /// The open session, if there is one.
  ///
  /// A call holds the lock until it ends, possibly until the user answers a question. Other calls
  /// of the process wait for their turn.
  private let link = Locked<KeyringLink?>(nil)

  private init(_ address: KeyringAddress) {
    self.address = address
  }

  /// Returns the session with the keyring at an address.
  static func at(_ address: KeyringAddress) -> SharedKeyring {
    all.withLock { all in
      if let shared = all[address] { return shared }
      let shared = SharedKeyring(address)
      all[address] = shared
      return shared
    }
  }

  /// Runs a body with the session, and opens a session first if there is none.
  ///
  /// The body runs once more in a new session in two cases: it fails in a session that was already
  /// open, perhaps because the keyring or the bus has ended, or the session's two sides seem to have
  /// different keys. So running the body again must be harmless.
  func use<Value: Sendable>(
    limit duration: Duration, whenWaiting: (@Sendable () -> Void)?, interruption: Interruption?,
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    try link.withLock { link throws(KeyringFailure) in
      try KeyringRoom.check()
      let limit = KeyringLimit(
        duration, try KeyringLibrary.load(address.library), whenWaiting: whenWaiting,
        interruption: interruption)
      if let open = link, open.isGone { Self.close(&link) }
      var isGarbled = false
      while true {
        let wasOpen = link != nil
        let open = if let link { link } else { try KeyringLink(bus: address.bus, limit: limit) }
        link = open
        do throws(KeyringFailure) {
          return try open.run(limit, repeatsGarbledCall: isGarbled, body)
        } catch {
          guard error.mayEndWithSession else { throw error }
          Self.close(&link)
          let isNewlyGarbled = error == .garbled && !isGarbled
          isGarbled = error == .garbled
          // If the user has refused to unlock, do not ask again at once.
          guard wasOpen || isNewlyGarbled, error != .locked, !limit.isOver else { throw error }
          try KeyringRoom.check()
        }
      }
    }
  }

  private static func close(_ link: inout KeyringLink?) {
    link?.close()
    link = nil
  }

  /// Runs a body with a separate session, without waiting for calls that may wait for the user.
  ///
  /// The body must read no secret: KeePassXC would ask the user again for this connection.
  static func beside<Value>(
    _ address: KeyringAddress, limit duration: Duration, interruption: Interruption?,
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    try KeyringRoom.check()
    let limit = KeyringLimit(
      duration, try KeyringLibrary.load(address.library), interruption: interruption)
    let link = try KeyringLink(bus: address.bus, limit: limit)
    defer { link.close() }
    return try link.run(limit, body)
  }
}
