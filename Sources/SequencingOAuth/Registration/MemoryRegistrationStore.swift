import Basics

/// Keeps registrations in memory, until the process ends.
public final class MemoryRegistrationStore: RegistrationStore {
  private let registrations = Locked<[String: ClientRegistration]>([:])

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

  /// Forgets the registration at a server; without one it does nothing.
  public func eraseRegistration(at issuer: String) {
    registrations.withLock { $0[issuer] = nil }
  }
}
