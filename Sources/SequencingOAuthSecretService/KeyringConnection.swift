import CSQSecret
import SQBasics
import SQLibC

/// A private connection to the session bus, with a separate GLib context for its "closed" signal.
///
/// While libsecret waits, the calling thread's own context is busy. So the thread that closes the
/// connection delivers the signal itself, from the separate context, and this ends the wait. GLib
/// lets any thread close a connection.
final class KeyringConnection: @unchecked Sendable {
  let pointer: OpaquePointer
  private let library: KeyringLibrary
  private let context: OpaquePointer?
  private let closed = OneShot<Void>()

  /// Connects to a bus; if `bus` is `nil`, uses the address from the environment.
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

  /// Closes the connection and ends its waiting calls; a second call has no effect.
  func close() {
    guard closed.resolve(()) else { return }
    _ = library.c.g_dbus_connection_close_sync(pointer, nil, nil)
    // The signal comes from GLib's own thread a moment later. If it stayed in the context, it would
    // keep the connection and the context alive.
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
    let known = if let bus { bus } else { try environmentsBus() }
    let address =
      known.map { library.c.g_strdup($0) }
      ?? library.c.g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, limit.cancellable, &error)
    defer { library.c.g_free(address) }
    if let address,
      let stream = library.c.g_dbus_address_get_stream_sync(
        address, nil, limit.cancellable, &error)
    {
      let wire = Wire(stream, library)
      let flags = GDBusConnectionFlags(
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
          | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
      let connection = limit.waiting({ wire.cut() }) {
        library.c.g_dbus_connection_new_sync(stream, nil, flags, nil, limit.cancellable, &error)
      }
      if let connection { return connection }
    }
    // This is GLib's text about an address. It contains no secret, because none was sent yet.
    let reason = error.map { String(cString: $0.pointee.message) } ?? "no address"
    let failure = KeyringFailure(adopting: error, limit: limit)
    switch failure {
    case .tooLong(let seconds): throw .silentBus(seconds)
    case .cancelled: throw failure
    default: throw .noBus(reason)
    }
  }

  /// Returns an address if the environment names neither the bus nor its folder; otherwise `nil`.
  ///
  /// With `nil`, GLib finds the bus by `DBUS_SESSION_BUS_ADDRESS` or `XDG_RUNTIME_DIR`. Without
  /// both variables, GLib would create a folder `.cache` in the home folder to look for the bus
  /// there. Throws if there is no display either.
  private static func environmentsBus() throws(KeyringFailure) -> String? {
    let isSet = { (name: String) in getenv(name).map { $0.pointee != 0 } ?? false }
    guard !isSet("DBUS_SESSION_BUS_ADDRESS"), !isSet("XDG_RUNTIME_DIR") else { return nil }
    guard isSet("DISPLAY") else {
      throw .noBus("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
    }
    return "autolaunch:"
  }

  /// The byte stream to and from a bus.
  ///
  /// GLib waits for the first message of a new connection without a time limit. Only the end of the
  /// stream ends that wait.
  private final class Wire: @unchecked Sendable {
    private let stream: UnsafeMutableRawPointer
    private let library: KeyringLibrary

    init(_ stream: OpaquePointer, _ library: KeyringLibrary) {
      self.library = library
      self.stream = UnsafeMutableRawPointer(stream)
    }

    deinit { library.c.g_object_unref(stream) }

    func cut() {
      // If the address starts a program, the stream to that program has no socket.
      guard
        library.c.g_type_check_instance_is_a(
          stream.assumingMemoryBound(to: GTypeInstance.self),
          library.c.g_socket_connection_get_type()) != 0
      else { return }
      let socket = library.c.g_socket_connection_get_socket(OpaquePointer(stream))
      _ = library.c.g_socket_shutdown(socket, 1, 1, nil)
    }
  }
}
