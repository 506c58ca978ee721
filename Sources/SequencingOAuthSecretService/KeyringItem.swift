import CSQSecret
import SQFoundation

/// An item of the keyring: a secret, and properties that can be read while it is locked.
///
/// Use it only on the thread and in the ``KeyringSession`` that found it.
final class KeyringItem {
  let pointer: UnsafeMutablePointer<SecretItem>
  private let library: KeyringLibrary

  init(adopting pointer: UnsafeMutableRawPointer, of library: KeyringLibrary) {
    self.library = library
    self.pointer = pointer.assumingMemoryBound(to: SecretItem.self)
    // The session's time limit applies instead of D-Bus's own limit.
    library.c.g_dbus_proxy_set_default_timeout(
      pointer.assumingMemoryBound(to: GDBusProxy.self), Int32.max)
  }

  deinit {
    library.c.g_object_unref(pointer)
  }

  var isLocked: Bool { library.c.secret_item_get_locked(pointer) != 0 }

  /// The time of the item's last change, in seconds since 1970.
  var modified: UInt64 { UInt64(library.c.secret_item_get_modified(pointer)) }

  /// Returns the value of an attribute; the keyring does not encrypt attributes.
  func attribute(_ name: String) -> String? {
    guard let attributes = library.c.secret_item_get_attributes(pointer) else { return nil }
    defer { library.c.g_hash_table_unref(attributes) }
    return name.withCString { name in
      library.c.g_hash_table_lookup(attributes, name).map {
        String(cString: $0.assumingMemoryBound(to: CChar.self))
      }
    }
  }

  /// The item's secret; `nil` until it is loaded.
  var secret: Data? {
    guard let value = library.c.secret_item_get_secret(pointer) else { return nil }
    defer { library.c.secret_value_unref(UnsafeMutableRawPointer(value)) }
    var length: gsize = 0
    guard let bytes = library.c.secret_value_get(value, &length) else { return nil }
    return Data(bytes: bytes, count: Int(length))
  }
}
