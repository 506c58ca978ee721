import CSQSecret

/// An open session with the keyring on a private connection; its calls block their thread.
///
/// The SDK does not use GLib's shared connection of the process. GLib ends the process when the bus
/// of that connection ends, and a session on that connection stays open after its keyring has
/// ended. Only one thread at a time may use a link.
///
/// - SeeAlso: Secret Service API specification, freedesktop.org
final class KeyringLink: @unchecked Sendable {
  /// The number of attempts to open a session if the keyring refuses.
  ///
  /// KWallet refuses a public key that begins with a zero byte: one of 256 keys.
  private static let attempts = 3

  let service: UnsafeMutablePointer<SecretService>
  private let library: KeyringLibrary
  let connection: KeyringConnection
  private let context: KeyringContext
  /// Whether a secret was read in this session, so that both sides have the same session key.
  ///
  /// KWallet before 6.25 (2026) computes another key than libsecret in some sessions, about 1 of
  /// 200. In such a session, a save fails and leaves an item without content, and libsecret reads no
  /// secret. For one secret of 256, the padding fits by chance: then other bytes are saved or read.
  var hasRead = false
  /// The unlocking that may still wait for the user's answer.
  var unlock: KeyringUnlock?
  /// The keyring's unique name on the bus, which no later keyring gets; `nil` if it is not known.
  let owner: String?

  /// Connects to a bus and opens a session; if `bus` is `nil`, uses the environment's address.
  ///
  /// The call takes at most ten seconds: no keyring asks the user before there is a session.
  init(bus: String?, limit: KeyringLimit) throws(KeyringFailure) {
    let context = KeyringContext(limit.library)
    let (connection, service) = try limit.opening { () throws(KeyringFailure) in
      try context.run { () throws(KeyringFailure) in
        let connection = try KeyringConnection(bus: bus, limit: limit)
        limit.govern(connection)
        do throws(KeyringFailure) {
          return (connection, try Self.openSession(on: connection, limit))
        } catch {
          connection.close()
          throw error
        }
      }
    }
    library = limit.library
    self.context = context
    self.connection = connection
    self.service = service
    owner = Self.owner(of: service, library)
  }

  private static func openSession(
    on connection: KeyringConnection, _ limit: KeyringLimit
  ) throws(KeyringFailure) -> UnsafeMutablePointer<SecretService> {
    var left = attempts
    while true {
      var error: UnsafeMutablePointer<GError>?
      if let service = sq_secret_service_open(connection.pointer, limit.cancellable, &error) {
        return service
      }
      let failure = KeyringFailure(opening: error, limit: limit)
      left -= 1
      guard case .noSession = failure, left > 0 else { throw failure }
    }
  }

  /// Runs a body with a session, and ends the body's calls at a time limit.
  ///
  /// `repeatsGarbledCall` says that an earlier session read bytes that are no text.
  func run<Value>(
    _ limit: KeyringLimit, repeatsGarbledCall: Bool = false,
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    limit.govern(connection)
    return try context.run { () throws(KeyringFailure) in
      try body(KeyringSession(self, limit, repeatsGarbledCall: repeatsGarbledCall))
    }
  }

  /// Waits for the end of an unlocking, and returns the number of unlocked objects.
  ///
  /// At the time limit it throws, and the unlocking goes on.
  func count(_ unlock: KeyringUnlock, _ limit: KeyringLimit) throws(KeyringFailure) -> Int {
    try limit.waiting({ [context] in context.wakeUp() }) { () throws(KeyringFailure) in
      while unlock.count == nil {
        if let failure = limit.failure { throw failure }
        context.waitForSignal()
      }
    }
    self.unlock = nil
    try unlock.check(limit)
    return unlock.count ?? 0
  }

  /// Runs a call that may show a prompt; at the time limit, closes the connection to end the call.
  func prompting<Value>(_ limit: KeyringLimit, _ body: () -> Value) -> Value {
    limit.waiting({ [connection] in connection.close() }, body)
  }

  /// Whether the connection is closed or another keyring has replaced this one.
  var isGone: Bool {
    context.deliverSignals()
    // The user has answered while no call was waiting, so the next call may ask again.
    if unlock?.count != nil { unlock = nil }
    if library.c.g_dbus_connection_is_closed(connection.pointer) != 0 { return true }
    return owner != nil && Self.owner(of: service, library) != owner
  }

  /// Ends the session; call it once.
  func close() {
    context.run {
      library.c.g_object_unref(service)
      connection.close()
    }
  }

  private static func owner(
    of service: UnsafeMutablePointer<SecretService>, _ library: KeyringLibrary
  ) -> String? {
    let proxy = UnsafeMutableRawPointer(service).assumingMemoryBound(to: GDBusProxy.self)
    guard let name = library.c.g_dbus_proxy_get_name_owner(proxy) else { return nil }
    defer { library.c.g_free(name) }
    return String(cString: name)
  }
}

/// A separate GLib context for the signals of one connection.
///
/// With it, the signals do not reach the app's main loop, and do not collect in memory if the app
/// has no main loop.
///
/// GLib lets any thread wake it up.
private final class KeyringContext: @unchecked Sendable {
  private let library: KeyringLibrary
  private let pointer: OpaquePointer?

  init(_ library: KeyringLibrary) {
    self.library = library
    pointer = library.c.g_main_context_new()
  }

  deinit {
    library.c.g_main_context_unref(pointer)
  }

  /// Runs a body; the signals for its calls arrive in this context.
  func run<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    library.c.g_main_context_push_thread_default(pointer)
    defer {
      // Signals that stay in the context would keep it alive.
      deliver()
      library.c.g_main_context_pop_thread_default(pointer)
    }
    return try body()
  }

  /// Delivers the signals that have arrived since the last call.
  func deliverSignals() { run {} }

  /// Waits for a signal, and delivers it; also returns after ``wakeUp()``.
  ///
  /// Call it in ``run(_:)``.
  func waitForSignal() { _ = library.c.g_main_context_iteration(pointer, 1) }

  /// Ends the current or the next ``waitForSignal()``.
  func wakeUp() { library.c.g_main_context_wakeup(pointer) }

  private func deliver() {
    while library.c.g_main_context_iteration(pointer, 0) != 0 {}
  }
}
