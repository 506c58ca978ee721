import CSQSecret
import SequencingOAuth

/// The keyring's collections: which one is the default, and which ones hide their items.
extension KeyringSession {
  /// Returns whether the default collection is unlocked, so that a save does not ask the user.
  func isOpen() throws(KeyringFailure) -> Bool {
    guard let collection = try defaultCollection() else { return false }
    return !collection.isLocked
  }

  /// Unlocks the default collection, or creates it if there is none; both may ask the user.
  func open() throws(KeyringFailure) {
    guard let collection = try defaultCollection() else { return try makeDefaultCollection() }
    if collection.isLocked { try unlock(collection) }
  }

  /// Returns whether a search may make the keyring ask the user, because no collection shows its
  /// items.
  ///
  /// KeePassXC then asks the user to unlock any database, and to open one if there is none.
  func searchMayAsk() throws(KeyringFailure) -> Bool {
    if let collection = try defaultCollection(), !collection.hidesItems { return false }
    return try collections().allSatisfy(\.hidesItems)
  }

  /// Finds the collections that hide their items; a default collection comes first.
  ///
  /// KeePassXC's default collection is the database in front, unless programs have no access to it.
  func hiddenCollections() throws(KeyringFailure) -> [KeyringCollection] {
    let hidden = try collections().filter(\.hidesItems)
    guard hidden.count > 1, let path = try defaultCollection()?.path else { return hidden }
    return hidden.filter { $0.path == path } + hidden.filter { $0.path != path }
  }

  /// Finds all collections of the keyring.
  private func collections() throws(KeyringFailure) -> [KeyringCollection] {
    var collections: [KeyringCollection] = []
    for path in try collectionPaths() {
      var error: UnsafeMutablePointer<GError>?
      let collection = library.c.secret_collection_new_for_dbus_path_sync(
        service, path, SECRET_COLLECTION_NONE, limit.cancellable, &error)
      if let collection {
        collections.append(KeyringCollection(adopting: collection, of: library))
      } else if case let failure = KeyringFailure(adopting: error, limit: limit),
        // The user may have closed the database just now.
        failure != .vanished
      {
        throw failure
      }
    }
    return collections
  }

  /// Asks for the paths of all collections; libsecret would return those of the session's start.
  private func collectionPaths() throws(KeyringFailure) -> [String] {
    let answer = try ask(
      "org.freedesktop.secrets", at: "/org/freedesktop/secrets", "org.freedesktop.DBus.Properties",
      "Get", "('org.freedesktop.Secret.Service', 'Collections')", answer: "(v)")
    guard let paths = answer.parts.first?.parts.first, paths.isOf(type: "ao") else {
      throw .other("the list of collections", 0)
    }
    return paths.parts.compactMap(\.text)
  }

  /// Returns whether the keyring is KeePassXC without an open database that programs can use.
  ///
  /// It has no collection then, and nothing is known of its items. KWallet too has no collection if
  /// the user has never used a wallet, but then it has no items.
  func lacksDatabase() throws(KeyringFailure) -> Bool {
    guard try collectionPaths().isEmpty, let owner = link.owner else { return false }
    do throws(KeyringFailure) {
      let answer = try ask(
        "org.freedesktop.DBus", at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
        "('org.keepassxc.KeePassXC.MainWindow',)", answer: "(s)")
      return answer.parts.first?.text == owner
    } catch {
      guard error == .noService else { throw error }
      return false
    }
  }

  /// Calls a method on D-Bus; the parameters are a tuple in GLib's text format.
  private func ask(
    _ name: String, at path: String, _ interface: String, _ method: String, _ parameters: String,
    answer type: String
  ) throws(KeyringFailure) -> KeyringValue {
    guard let tuple = library.c.g_variant_parse(nil, parameters, nil, nil, nil) else {
      throw .other("g_variant_parse", 0)
    }
    defer { library.c.g_variant_unref(tuple) }
    var error: UnsafeMutablePointer<GError>?
    let answer = type.withCString { type in
      library.c.g_dbus_connection_call_sync(
        link.connection.pointer, name, path, interface, method, tuple, OpaquePointer(type),
        G_DBUS_CALL_FLAGS_NONE, G_MAXINT, limit.cancellable, &error)
    }
    guard let answer else { throw KeyringFailure(adopting: error, limit: limit) }
    return KeyringValue(adopting: answer, of: library)
  }

  private func makeDefaultCollection() throws(KeyringFailure) {
    var error: UnsafeMutablePointer<GError>?
    // Use the same name as libsecret, which creates this collection when it saves the first item.
    let collection = link.prompting(limit) {
      library.c.secret_collection_create_sync(
        service, "Default keyring", "default", SECRET_COLLECTION_CREATE_NONE, limit.cancellable,
        &error)
    }
    if let collection { return library.c.g_object_unref(collection) }
    guard error != nil else { throw limit.failure ?? .noCollection }
    let failure = KeyringFailure(adopting: error, limit: limit)
    throw failure == .vanished || failure == .locked ? .noCollection : failure
  }

  private func defaultCollection() throws(KeyringFailure) -> KeyringCollection? {
    var error: UnsafeMutablePointer<GError>?
    let collection = library.c.secret_collection_for_alias_sync(
      service, "default", SECRET_COLLECTION_NONE, limit.cancellable, &error)
    if let error { throw KeyringFailure(adopting: error, limit: limit) }
    return collection.map { KeyringCollection(adopting: $0, of: library) }
  }
}
