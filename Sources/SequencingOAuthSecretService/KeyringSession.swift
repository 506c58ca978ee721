import CSQSecret
import SQFoundation

/// A session with the keyring during one call, with a time limit; its calls block their thread.
struct KeyringSession {
  let link: KeyringLink
  let limit: KeyringLimit
  /// Whether an earlier session read bytes that are no text in the same call.
  private let repeatsGarbledCall: Bool

  init(_ link: KeyringLink, _ limit: KeyringLimit, repeatsGarbledCall: Bool) {
    self.link = link
    self.limit = limit
    self.repeatsGarbledCall = repeatsGarbledCall
  }

  /// Whether a secret was read in this session; see ``KeyringLink/hasRead``.
  var hasRead: Bool {
    get { link.hasRead }
    nonmutating set { link.hasRead = newValue }
  }

  /// Whether bytes are perhaps not the item's content, but decrypted with a wrong session key.
  ///
  /// Such bytes are random, so they are no text.
  func mayHaveGarbled(_ secret: Data) -> Bool {
    !link.hasRead && !repeatsGarbledCall && String(validating: secret, as: UTF8.self) == nil
  }

  var service: UnsafeMutablePointer<SecretService> { link.service }
  var library: KeyringLibrary { limit.library }
}

extension KeyringSession {
  /// Finds the items with these attributes, in all collections, locked or unlocked.
  func items(_ attributes: [String: String]) throws(KeyringFailure) -> [KeyringItem] {
    let list = try withTable(attributes) { table, error in
      library.c.secret_service_search_sync(
        service, sq_account_schema(), table, SECRET_SEARCH_ALL, limit.cancellable, error)
    }
    return adopt(list) { KeyringItem(adopting: $0, of: library) }
  }

  /// Finds the items with the given attributes, unlocks them, and loads their secrets.
  ///
  /// The keyring may ask the user, unless `asks` is `false`.
  func openItems(
    _ attributes: [String: String], asks: Bool = true
  ) throws(KeyringFailure) -> [KeyringItem] {
    var items = try items(attributes)
    let locked = items.filter(\.isLocked)
    if !locked.isEmpty {
      guard asks else { throw .locked }
      try unlock(locked)
      // Search again, because the content of the items could not be read while they were locked.
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

  /// Unlocks a collection; the keyring may ask the user.
  func unlock(_ collection: KeyringCollection) throws(KeyringFailure) {
    let list = library.c.g_list_prepend(nil, collection.pointer)
    defer { library.c.g_list_free(list) }
    try unlock(list, count: 1)
  }

  private func unlock(
    _ list: UnsafeMutablePointer<GList>?, count: Int
  ) throws(KeyringFailure) {
    // The prompt of an earlier call may still be on the screen; wait for the answer to that prompt.
    if let earlier = link.unlock, try link.count(earlier, limit) == 0 { throw refusal }
    let unlock = KeyringUnlock(list, service, library)
    link.unlock = unlock
    // If the user refuses, libsecret reports no error.
    guard try link.count(unlock, limit) == count else { throw refusal }
  }

  /// The failure to throw if libsecret reports no error but does not unlock or does not save.
  private var refusal: KeyringFailure { limit.failure ?? .locked }

  /// Adds an item to the default collection, or replaces its item with the same attributes.
  func store(
    _ secret: Data, label: String, attributes: [String: String]
  ) throws(KeyringFailure) {
    try withSecret(secret) { value throws(KeyringFailure) in
      do throws(KeyringFailure) {
        let stored = try withTable(attributes) { table, error in
          link.prompting(limit) {
            library.c.secret_service_store_sync(
              service, sq_account_schema(), table, "default", label, value, limit.cancellable,
              error)
          }
        }
        // If the user refuses, libsecret may report no error.
        guard stored != 0 else { throw refusal }
      } catch {
        // libsecret creates a missing default collection; the keyring or the user refused that.
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

  /// Removes an item, after unlocking it if necessary; the keyring may ask the user to unlock it.
  func delete(_ item: KeyringItem) throws(KeyringFailure) {
    if item.isLocked { try unlock([item]) }
    try call { error in
      link.prompting(limit) {
        library.c.secret_item_delete_sync(item.pointer, limit.cancellable, error) != 0
      }
    }
  }
}

extension KeyringSession {
  private typealias ErrorPointer = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

  /// Makes a call that returns `false` on failure, and throws its error.
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

  /// Runs a body with a secret in memory that libsecret erases and keeps out of the swap space.
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

  /// Takes ownership of the elements of a list, and frees the list.
  private func adopt<Element>(
    _ list: UnsafeMutablePointer<GList>?, _ adopt: (UnsafeMutableRawPointer) -> Element
  ) -> [Element] {
    defer { library.c.g_list_free(list) }
    return sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }
      .compactMap { $0?.pointee.data }.map(adopt)
  }
}
