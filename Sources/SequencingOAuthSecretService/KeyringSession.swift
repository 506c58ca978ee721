import CSecret

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A session with the keyring on a connection of its own; its calls block their thread.
///
/// The SDK does not use the connection that GLib shares in a process. That one ends the process
/// when the bus ends, and a session on it stays open after the keyring that opened it has ended.
///
/// - SeeAlso: Secret Service API specification, freedesktop.org
final class KeyringSession {
  private let limit: KeyringLimit
  private let connection: KeyringConnection
  private let service: UnsafeMutablePointer<SecretService>

  /// Opens a session, runs a body with it, and closes it.
  ///
  /// If `bus` is `nil`, the address of the bus comes from the environment. The first session of a
  /// process loads the library.
  static func with<Value>(
    bus: String?, library file: String?, limit duration: Duration,
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    let library = try KeyringLibrary.load(file)
    // Signals go to this context and end with it. So they neither reach the app's main loop, nor
    // collect in memory if the app has no main loop.
    let context = library.c.g_main_context_new()
    library.c.g_main_context_push_thread_default(context)
    defer {
      // Signals that stay in the context would keep it alive.
      while library.c.g_main_context_iteration(context, 0) != 0 {}
      library.c.g_main_context_pop_thread_default(context)
      library.c.g_main_context_unref(context)
    }
    let session = try KeyringSession(bus: bus, limit: KeyringLimit(duration, library))
    defer { session.close() }
    return try body(session)
  }

  private init(bus: String?, limit: KeyringLimit) throws(KeyringFailure) {
    self.limit = limit
    connection = try KeyringConnection(bus: bus, limit: limit)
    limit.govern(connection)
    var error: UnsafeMutablePointer<GError>?
    guard let service = sq_secret_service_open(connection.pointer, limit.cancellable, &error)
    else {
      connection.close()
      let failure = KeyringFailure(adopting: error, limit: limit)
      // No item was found yet, so the missing object is the service.
      throw failure == .vanished ? .noService : failure
    }
    self.service = service
  }

  private var library: KeyringLibrary { limit.library }

  private func close() {
    library.c.g_object_unref(service)
    connection.close()
  }
}

extension KeyringSession {
  /// Finds the items that have these attributes, in all collections, locked or not.
  func items(_ attributes: [String: String]) throws(KeyringFailure) -> [KeyringItem] {
    let list = try withTable(attributes) { table, error in
      library.c.secret_service_search_sync(
        service, sq_account_schema(), table, SECRET_SEARCH_ALL, limit.cancellable, error)
    }
    return adopt(list) { KeyringItem(adopting: $0, of: library) }
  }

  /// Finds the items that have these attributes, unlocks them, and loads their secrets.
  ///
  /// The keyring may ask the user.
  func openItems(_ attributes: [String: String]) throws(KeyringFailure) -> [KeyringItem] {
    var items = try items(attributes)
    let locked = items.filter(\.isLocked)
    if !locked.isEmpty {
      try unlock(locked)
      // The content of locked items could not be read before.
      items = try self.items(attributes)
      guard !items.contains(where: \.isLocked) else { throw refusal }
    }
    guard !items.isEmpty else { return [] }
    let list = list(items)
    defer { library.c.g_list_free(list) }
    try call { error in
      library.c.secret_item_load_secrets_sync(list, limit.cancellable, error) != 0
    }
    return items
  }

  private func unlock(_ items: [KeyringItem]) throws(KeyringFailure) {
    let list = list(items)
    defer { library.c.g_list_free(list) }
    try unlock(list, count: items.count)
  }

  private func unlock(_ object: UnsafeMutableRawPointer) throws(KeyringFailure) {
    let list = library.c.g_list_prepend(nil, object)
    defer { library.c.g_list_free(list) }
    try unlock(list, count: 1)
  }

  private func unlock(
    _ list: UnsafeMutablePointer<GList>?, count: Int
  ) throws(KeyringFailure) {
    var error: UnsafeMutablePointer<GError>?
    let unlocked = library.c.secret_service_unlock_sync(
      service, list, limit.cancellable, nil, &error)
    if let error { throw KeyringFailure(adopting: error, limit: limit) }
    // If the user refuses, libsecret reports no error.
    guard unlocked == count else { throw refusal }
  }

  /// The reason if libsecret unlocks or stores nothing and reports no error.
  private var refusal: KeyringFailure { limit.isOver ? .tooLong(limit.seconds) : .locked }

  /// Adds an item to the default collection; it replaces an item with these attributes there.
  func store(
    _ secret: Data, label: String, attributes: [String: String]
  ) throws(KeyringFailure) {
    try withSecret(secret) { value throws(KeyringFailure) in
      do throws(KeyringFailure) {
        let stored = try withTable(attributes) { table, error in
          library.c.secret_service_store_sync(
            service, sq_account_schema(), table, "default", label, value, limit.cancellable, error)
        }
        // If the user refuses, there need not be an error.
        guard stored != 0 else { throw refusal }
      } catch {
        // libsecret creates a missing default collection; here the keyring or the user refused
        // that.
        throw error == .vanished ? .noCollection : error
      }
    }
  }

  /// Replaces the secret of an item, in any collection.
  func replace(_ item: KeyringItem, by secret: Data) throws(KeyringFailure) {
    try withSecret(secret) { value throws(KeyringFailure) in
      try call { error in
        library.c.secret_item_set_secret_sync(item.pointer, value, limit.cancellable, error) != 0
      }
    }
  }

  /// Removes an item; unlocks it first, which may ask the user.
  func delete(_ item: KeyringItem) throws(KeyringFailure) {
    if item.isLocked { try unlock([item]) }
    try call { error in
      library.c.secret_item_delete_sync(item.pointer, limit.cancellable, error) != 0
    }
  }

  /// Whether the default collection exists and is unlocked, so a save does not ask the user.
  func isOpen() throws(KeyringFailure) -> Bool {
    guard let collection = try defaultCollection() else { return false }
    defer { library.c.g_object_unref(collection) }
    return library.c.secret_collection_get_locked(collection) == 0
  }

  /// Unlocks the default collection, which may ask the user.
  ///
  /// Without a default collection, it does nothing: the first save creates the collection.
  func open() throws(KeyringFailure) {
    guard let collection = try defaultCollection() else { return }
    defer { library.c.g_object_unref(collection) }
    guard library.c.secret_collection_get_locked(collection) != 0 else { return }
    try unlock(UnsafeMutableRawPointer(collection))
  }

  private func defaultCollection() throws(KeyringFailure) -> UnsafeMutablePointer<SecretCollection>?
  {
    var error: UnsafeMutablePointer<GError>?
    let collection = library.c.secret_collection_for_alias_sync(
      service, "default", SECRET_COLLECTION_NONE, limit.cancellable, &error)
    if let error { throw KeyringFailure(adopting: error, limit: limit) }
    return collection
  }
}

extension KeyringSession {
  private typealias ErrorPointer = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

  /// Makes a call that returns whether it succeeded, and throws its error if it failed.
  private func call(_ body: (ErrorPointer) -> Bool) throws(KeyringFailure) {
    var error: UnsafeMutablePointer<GError>?
    guard body(&error) else { throw KeyringFailure(adopting: error, limit: limit) }
  }

  /// Makes a call with attributes, and throws if the call reports an error.
  private func withTable<Value>(
    _ attributes: [String: String], _ body: (OpaquePointer?, ErrorPointer) -> Value
  ) throws(KeyringFailure) -> Value {
    let c = library.c
    let table = c.g_hash_table_new_full(c.g_str_hash, c.g_str_equal, c.g_free, c.g_free)
    defer { c.g_hash_table_unref(table) }
    for (name, value) in attributes {
      _ = c.g_hash_table_insert(table, c.g_strdup(name), c.g_strdup(value))
    }
    var error: UnsafeMutablePointer<GError>?
    let result = body(table, &error)
    if let error { throw KeyringFailure(adopting: error, limit: limit) }
    return result
  }

  /// Puts a secret into libsecret's memory, which libsecret erases and keeps out of the swap space.
  private func withSecret(
    _ secret: Data, _ body: (OpaquePointer?) throws(KeyringFailure) -> Void
  ) throws(KeyringFailure) {
    let value = secret.withUnsafeBytes { bytes in
      library.c.secret_value_new(
        bytes.bindMemory(to: CChar.self).baseAddress, gssize(bytes.count), "text/plain")
    }
    defer { library.c.secret_value_unref(UnsafeMutableRawPointer(value)) }
    try body(value)
  }

  private func list(_ items: [KeyringItem]) -> UnsafeMutablePointer<GList>? {
    items.reversed().reduce(nil) { library.c.g_list_prepend($0, $1.pointer) }
  }

  /// Takes over the elements of a list, and frees the list.
  private func adopt<Element>(
    _ list: UnsafeMutablePointer<GList>?, _ adopt: (UnsafeMutableRawPointer) -> Element
  ) -> [Element] {
    defer { library.c.g_list_free(list) }
    return sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }
      .compactMap { $0?.pointee.data }.map(adopt)
  }
}
