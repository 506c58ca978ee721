public import SequencingOAuth

// Client registrations, shared by all hosts.
extension PostgreSQLTokenStore: RegistrationStore {
  /// Loads the client's registration at an authorization server; `nil` if there is none.
  public func registration(
    at issuer: String
  ) async throws(SQOAuthError) -> ClientRegistration? {
    try await database.use { table throws(SQOAuthError) in
      try await table.registration(at: issuer)
    }
  }

  /// Encrypts and saves a registration, replacing the earlier registration at the same server.
  public func save(_ registration: ClientRegistration) async throws(SQOAuthError) {
    let ticket = Self.ticket()
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(registration, ticket: ticket)
    }
  }

  /// Saves a registration if the stored one is `earlier`; returns the stored registration.
  ///
  /// If several hosts call this method at the same time, one host's registration is stored, and all
  /// hosts get that registration.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(registration, replacing: earlier)
    }
  }

  /// Checks that the server is not read-only, and that the role may save registrations.
  public func checkSaving(at issuer: String) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in
      try await table.checkWritingRegistrations()
    }
  }

  /// Erases the registration at an authorization server, if there is one.
  public func eraseRegistration(at issuer: String) async throws(SQOAuthError) {
    let ticket = Self.ticket()
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.eraseRegistration(at: issuer, ticket: ticket)
    }
  }
}
