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

  /// Forgets the registration at a server; without one it does nothing.
  public func eraseRegistration(at issuer: String) async throws(SQOAuthError) {
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.eraseRegistration(at: issuer)
    }
  }
}
