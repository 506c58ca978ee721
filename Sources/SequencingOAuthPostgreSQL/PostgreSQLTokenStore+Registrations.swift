public import SequencingOAuth

// The registrations of clients, which all hosts share.
extension PostgreSQLTokenStore: RegistrationStore {
  /// The registration at a server; `nil` if there is none.
  public func registration(
    at issuer: String
  ) async throws(SQOAuthError) -> ClientRegistration? {
    try await database.use { table throws(SQOAuthError) in
      try await table.registration(at: issuer)
    }
  }

  /// Keeps a registration in place of the one at the same server, sealed by the store's key.
  public func save(_ registration: ClientRegistration) async throws(SQOAuthError) {
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(registration)
    }
  }

  /// Keeps a registration, unless the database has another one than `earlier`; returns the
  /// registration that stands.
  ///
  /// Of several hosts that do this at once, one keeps its registration, and all get that one.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(registration, replacing: earlier)
    }
  }

  /// Forgets the registration at a server; without one it does nothing.
  public func eraseRegistration(at issuer: String) async throws(SQOAuthError) {
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.eraseRegistration(at: issuer)
    }
  }
}
