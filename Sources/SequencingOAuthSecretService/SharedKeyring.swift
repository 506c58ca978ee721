import SQBasics

/// The bus on which a keyring is asked, and the library that asks it.
struct KeyringAddress: Sendable, Hashable {
  /// The address of the session bus; `nil` takes it from the environment.
  var bus: String?
  /// The file of the library; `nil` for the system's.
  var library: String?
}

/// The one session that all stores of the process have with a keyring.
///
/// KeePassXC asks the user before a program reads an item, and remembers the answer as long as that
/// program's connection lasts. With a connection for each call, it would ask several times for one
/// refresh, the last time when the server has used up the refresh token already.
final class SharedKeyring: Sendable {
  private static let all = Locked<[KeyringAddress: SharedKeyring]>([:])

  private let address: KeyringAddress
  /// The open session, if there is one.
  ///
  /// Its user has the lock for a whole call, perhaps until a question on the screen is answered.
  /// Other calls of the process wait for their turn.
  private let link = Locked<KeyringLink?>(nil)

  private init(_ address: KeyringAddress) {
    self.address = address
  }

  /// The session with the keyring at an address.
  static func at(_ address: KeyringAddress) -> SharedKeyring {
    all.withLock { all in
      if let shared = all[address] { return shared }
      let shared = SharedKeyring(address)
      all[address] = shared
      return shared
    }
  }

  /// Runs a body with the session, and opens the session if there is none.
  ///
  /// If the body fails in a session that was open before, perhaps because the keyring or the bus
  /// has ended meanwhile, it runs once more in a new session. So the body must allow that.
  func use<Value: Sendable>(
    limit duration: Duration, whenWaiting: (@Sendable () -> Void)?, interruption: Interruption?,
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    try link.withLock { link throws(KeyringFailure) in
      let limit = KeyringLimit(
        duration, try KeyringLibrary.load(address.library), whenWaiting: whenWaiting,
        interruption: interruption)
      if let open = link, open.isGone { Self.close(&link) }
      if let open = link {
        do throws(KeyringFailure) {
          return try open.run(limit, body)
        } catch {
          guard error.mayEndWithSession else { throw error }
          Self.close(&link)
          // A question that the user has refused is not asked again at once.
          guard error != .locked, !limit.isOver else { throw error }
        }
      }
      let new = try KeyringLink(bus: address.bus, limit: limit)
      link = new
      do throws(KeyringFailure) {
        return try new.run(limit, body)
      } catch {
        if error.mayEndWithSession { Self.close(&link) }
        throw error
      }
    }
  }

  private static func close(_ link: inout KeyringLink?) {
    link?.close()
    link = nil
  }

  /// Runs a body with a session that is not shared, beside a call that may wait for the user.
  ///
  /// The body must read no secret: KeePassXC would ask the user for this connection too.
  static func beside<Value>(
    _ address: KeyringAddress, limit duration: Duration, interruption: Interruption?,
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    let limit = KeyringLimit(
      duration, try KeyringLibrary.load(address.library), interruption: interruption)
    let link = try KeyringLink(bus: address.bus, limit: limit)
    defer { link.close() }
    return try link.run(limit, body)
  }
}
