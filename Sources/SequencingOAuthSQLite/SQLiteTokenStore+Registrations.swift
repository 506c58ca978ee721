public import SequencingOAuth

// The registrations of clients, for all processes that use the database.
extension SQLiteTokenStore: RegistrationStore {
  /// The registration at a server; `nil` if there is none.
  public func registration(
    at issuer: String
  ) async throws(SQOAuthError) -> ClientRegistration? {
    try await run { table throws(SQOAuthError) in try table.registration(at: issuer) }
  }

  /// Keeps a registration in place of the one at the same server, sealed if the store has a key.
  public func save(_ registration: ClientRegistration) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.put(registration) }
  }

  /// Keeps a registration, unless the database has another one than `earlier`; returns the
  /// registration that stands.
  ///
  /// Processes that use the database do this one after the other.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await run { table throws(SQOAuthError) in
      try table.put(registration, replacing: earlier)
    }
  }

  /// Forgets the registration at a server, and overwrites it; without one it does nothing.
  public func eraseRegistration(at issuer: String) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.eraseRegistration(at: issuer) }
  }
}
