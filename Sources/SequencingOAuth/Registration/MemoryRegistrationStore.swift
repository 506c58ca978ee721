import SQBasics

/// A store of registrations in memory; they are lost when the process ends.
public final class MemoryRegistrationStore: RegistrationStore {
  private let registrations = Locked(TextDictionary<ClientRegistration>())

  /// Creates an empty store.
  public init() {}

  /// Returns the registration at a server; `nil` if there is none.
  public func registration(at issuer: String) -> ClientRegistration? {
    registrations.withLock { $0[issuer] }
  }

  /// Stores a registration in place of the previous registration at the same server.
  public func save(_ registration: ClientRegistration) {
    registrations.withLock { $0[registration.issuer] = registration }
  }

  /// Stores a registration unless another caller has stored one; returns the stored registration.
  ///
  /// `earlier` is the registration that the caller has loaded, or `nil` if there was none.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) -> ClientRegistration {
    registrations.withLock { registrations in
      if let kept = registrations[registration.issuer], kept != earlier { return kept }
      registrations[registration.issuer] = registration
      return registration
    }
  }

  /// Erases the registration at a server; does nothing if there is none.
  public func eraseRegistration(at issuer: String) {
    registrations.withLock { $0[issuer] = nil }
  }
}
