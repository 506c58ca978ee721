import CSecret

/// A connection to the session bus of our own, with a context for the word that it was closed.
///
/// That context is not the thread's, which is busy while libsecret waits: whoever closes the
/// connection brings the word from the one to the other, which ends the wait.
///
/// GLib lets any thread close a connection.
final class KeyringConnection: @unchecked Sendable {
  let pointer: OpaquePointer
  private let context: OpaquePointer?

  /// Connects to a bus whose address is given or is the environment's.
  init(bus: String?, limit: KeyringLimit) throws(KeyringFailure) {
    let context = g_main_context_new()
    g_main_context_push_thread_default(context)
    do throws(KeyringFailure) {
      defer { g_main_context_pop_thread_default(context) }
      pointer = try Self.connect(bus, limit)
      self.context = context
    } catch {
      g_main_context_unref(context)
      throw error
    }
  }

  deinit {
    g_object_unref(UnsafeMutableRawPointer(pointer))
    g_main_context_unref(context)
  }

  /// Closes it and tells those who wait; a second time that is nothing.
  func close() {
    g_dbus_connection_close_sync(pointer, nil, nil)
    // The word comes from GLib's own thread, a moment later, unless it was brought already. Left
    // where it is it would keep the connection and the context.
    let timeout = g_timeout_source_new(1000)
    g_source_set_callback(timeout, { _ in 0 }, nil, nil)
    g_source_attach(timeout, context)
    g_main_context_iteration(context, 1)
    g_source_destroy(timeout)
    g_source_unref(timeout)
    while g_main_context_iteration(context, 0) != 0 {}
  }

  private static func connect(
    _ bus: String?, _ limit: KeyringLimit
  ) throws(KeyringFailure) -> OpaquePointer {
    var error: UnsafeMutablePointer<GError>?
    let address =
      bus.map { g_strdup($0) }
      ?? g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, limit.cancellable, &error)
    defer { g_free(address) }
    if let address {
      let flags = GDBusConnectionFlags(
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
          | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
      if let connection = g_dbus_connection_new_for_address_sync(
        address, flags, nil, limit.cancellable, &error)
      {
        return connection
      }
    }
    // GLib's own words, on an address; nothing secret has been said yet.
    let reason = error.map { String(cString: $0.pointee.message) } ?? "no address"
    let failure = KeyringFailure(adopting: error, limit: limit)
    if case .tooLong = failure { throw failure }
    throw .noBus(reason)
  }
}
