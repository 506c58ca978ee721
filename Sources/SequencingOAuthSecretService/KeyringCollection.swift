import CSQSecret

/// A collection of items in the keyring.
///
/// Use it only on the thread and in the ``KeyringSession`` that found it.
final class KeyringCollection {
  let pointer: UnsafeMutablePointer<SecretCollection>
  private let library: KeyringLibrary

  init(adopting pointer: UnsafeMutablePointer<SecretCollection>, of library: KeyringLibrary) {
    self.pointer = pointer
    self.library = library
  }

  deinit {
    library.c.g_object_unref(pointer)
  }

  private var proxy: UnsafeMutablePointer<GDBusProxy> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GDBusProxy.self)
  }

  /// The collection's path on D-Bus.
  var path: String? {
    library.c.g_dbus_proxy_get_object_path(proxy).map { String(cString: $0) }
  }

  var isLocked: Bool { library.c.secret_collection_get_locked(pointer) != 0 }

  /// Whether the collection is locked and does not show its items.
  ///
  /// While a database is locked, KeePassXC does not even know the database's creation time. A
  /// search then finds none of its items.
  var hidesItems: Bool {
    guard isLocked else { return false }
    guard let created = library.c.g_dbus_proxy_get_cached_property(proxy, "Created") else {
      return true
    }
    library.c.g_variant_unref(created)
    return false
  }
}
