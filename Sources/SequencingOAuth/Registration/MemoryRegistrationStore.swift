import SQBasics

/// Keeps registrations in memory, until the process ends.
public final class MemoryRegistrationStore: RegistrationStore {
  private let registrations = Locked(TextDictionary<ClientRegistration>())

  /// Makes an empty store.
  public init() {}

  /// The registration at a server; `nil` if there is none.
  public func registration(at issuer: String) -> ClientRegistration? {
    registrations.withLock { $0[issuer] }
  }

  /// Keeps a registration in place of the one at the same server.
  public func save(_ registration: ClientRegistration) {
    registrations.withLock { $0[registration.issuer] = registration }
  }

  /// Keeps a registration, unless the store has another one than `earlier`; returns the
  /// registration that stands.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) -> ClientRegistration {
    registrations.withLock { registrations in
      if let kept = registrations[registration.issuer], kept != earlier { return kept }
      registrations[registration.issuer] = registration
      return registration
    }
  }

  /// Forgets the registration at a server; without one it does nothing.
  public func eraseRegistration(at issuer: String) {
    registrations.withLock { $0[issuer] = nil }
  }
}
