import CSecret

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One item of the keyring: a secret, and the facts that can be read without unlocking it.
///
/// It may be used only on the thread and in the ``KeyringSession`` that found it.
final class KeyringItem {
  let pointer: UnsafeMutablePointer<SecretItem>

  init(adopting pointer: UnsafeMutableRawPointer) {
    self.pointer = pointer.assumingMemoryBound(to: SecretItem.self)
    // The session's limit counts instead of D-Bus's own.
    g_dbus_proxy_set_default_timeout(
      pointer.assumingMemoryBound(to: GDBusProxy.self), Int32.max)
  }

  deinit {
    g_object_unref(pointer)
  }

  var isLocked: Bool { secret_item_get_locked(pointer) != 0 }

  /// The time at which the item was last changed, in seconds since 1970.
  var modified: UInt64 { UInt64(secret_item_get_modified(pointer)) }

  /// Returns the attribute with this name; the keyring keeps attributes in clear.
  func attribute(_ name: String) -> String? {
    guard let attributes = secret_item_get_attributes(pointer) else { return nil }
    defer { g_hash_table_unref(attributes) }
    return name.withCString { name in
      g_hash_table_lookup(attributes, name).map {
        String(cString: $0.assumingMemoryBound(to: CChar.self))
      }
    }
  }

  /// The item's secret; `nil` until it was loaded.
  var secret: Data? {
    guard let value = secret_item_get_secret(pointer) else { return nil }
    defer { secret_value_unref(UnsafeMutableRawPointer(value)) }
    var length: gsize = 0
    guard let bytes = secret_value_get(value, &length) else { return nil }
    return Data(bytes: bytes, count: Int(length))
  }
}
