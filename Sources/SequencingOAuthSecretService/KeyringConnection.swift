import CSecret

/// A private connection to the session bus, with a context of its own for GLib's signal that the
/// connection was closed.
///
/// The thread's own context is busy while libsecret waits. So the thread that closes the connection
/// also delivers the signal from this context, which ends the wait. GLib lets any thread close a
/// connection.
final class KeyringConnection: @unchecked Sendable {
  let pointer: OpaquePointer
  private let library: KeyringLibrary
  private let context: OpaquePointer?

  /// Connects to the bus at an address; if it is `nil`, takes the address from the environment.
  init(bus: String?, limit: KeyringLimit) throws(KeyringFailure) {
    let library = limit.library
    let context = library.c.g_main_context_new()
    library.c.g_main_context_push_thread_default(context)
    do throws(KeyringFailure) {
      defer { library.c.g_main_context_pop_thread_default(context) }
      pointer = try Self.connect(bus, limit)
      self.library = library
      self.context = context
    } catch {
      library.c.g_main_context_unref(context)
      throw error
    }
  }

  deinit {
    library.c.g_object_unref(UnsafeMutableRawPointer(pointer))
    library.c.g_main_context_unref(context)
  }

  /// Closes the connection and ends the calls that wait on it; a second call has no effect.
  func close() {
    _ = library.c.g_dbus_connection_close_sync(pointer, nil, nil)
    // The signal comes from GLib's own thread a moment later, unless it was delivered already. If
    // it stayed in the context, it would keep the connection and the context alive.
    let timeout = library.c.g_timeout_source_new(1000)
    library.c.g_source_set_callback(timeout, { _ in 0 }, nil, nil)
    _ = library.c.g_source_attach(timeout, context)
    _ = library.c.g_main_context_iteration(context, 1)
    library.c.g_source_destroy(timeout)
    library.c.g_source_unref(timeout)
    while library.c.g_main_context_iteration(context, 0) != 0 {}
  }

  private static func connect(
    _ bus: String?, _ limit: KeyringLimit
  ) throws(KeyringFailure) -> OpaquePointer {
    let library = limit.library
    var error: UnsafeMutablePointer<GError>?
    let address =
      bus.map { library.c.g_strdup($0) }
      ?? library.c.g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, limit.cancellable, &error)
    defer { library.c.g_free(address) }
    if let address {
      let flags = GDBusConnectionFlags(
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
          | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
      if let connection = library.c.g_dbus_connection_new_for_address_sync(
        address, flags, nil, limit.cancellable, &error)
      {
        return connection
      }
    }
    // GLib's own text about an address; nothing secret has been sent yet.
    let reason = error.map { String(cString: $0.pointee.message) } ?? "no address"
    let failure = KeyringFailure(adopting: error, limit: limit)
    if case .tooLong = failure { throw failure }
    throw .noBus(reason)
  }
}
