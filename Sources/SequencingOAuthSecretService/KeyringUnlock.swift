import CSQSecret

/// A request to the keyring to unlock objects; the keyring may show a prompt for it.
///
/// The prompt stays on the screen after the call has been cancelled or has reached its time limit:
/// GNOME Keyring would abort if the prompt were dismissed. So the request can outlive its call, and
/// later calls wait for its end instead of showing another prompt.
///
/// The request can end only while its thread-default GLib context runs. Only one thread at a time
/// may use this object.
final class KeyringUnlock {
  /// The number of objects that were unlocked; `nil` until the request has ended.
  private(set) var count: Int?
  private var error: UnsafeMutablePointer<GError>?
  private let library: KeyringLibrary

  /// Sends the request, in the current thread-default context.
  init(
    _ objects: UnsafeMutablePointer<GList>?, _ service: UnsafeMutablePointer<SecretService>,
    _ library: KeyringLibrary
  ) {
    self.library = library
    library.c.secret_service_unlock(
      service, objects, nil,
      { service, result, data in
        guard let service, let data else { return }
        Unmanaged<KeyringUnlock>.fromOpaque(data).takeRetainedValue().end(
          UnsafeMutableRawPointer(service).assumingMemoryBound(to: SecretService.self), result)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  deinit {
    if let error { library.c.g_error_free(error) }
  }

  private func end(_ service: UnsafeMutablePointer<SecretService>, _ result: OpaquePointer?) {
    count = Int(library.c.secret_service_unlock_finish(service, result, nil, &error))
  }

  /// Throws the error of a request that has failed; call it once.
  func check(_ limit: KeyringLimit) throws(KeyringFailure) {
    guard let error else { return }
    self.error = nil
    throw KeyringFailure(adopting: error, limit: limit)
  }
}
