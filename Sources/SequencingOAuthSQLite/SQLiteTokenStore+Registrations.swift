public import SequencingOAuth

// Client registrations, for all processes that use the database.
extension SQLiteTokenStore: RegistrationStore {
  /// Loads the client's registration at an authorization server; `nil` if there is none.
  public func registration(
    at issuer: String
  ) async throws(SQOAuthError) -> ClientRegistration? {
    try await run { table throws(SQOAuthError) in try table.registration(at: issuer) }
  }

  /// Saves a registration, replacing the earlier registration at the same server.
  public func save(_ registration: ClientRegistration) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.put(registration) }
  }

  /// Saves a registration if the stored one is `earlier`; returns the stored registration.
  ///
  /// If several processes call this method at the same time, they all get the same registration.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await run { table throws(SQOAuthError) in
      try table.put(registration, replacing: earlier)
    }
  }

  /// Checks that a registration could be saved now, by writing as many bytes and removing them.
  public func checkSaving(at issuer: String) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.checkWriting() }
  }

  /// Erases and overwrites the registration at an authorization server, if there is one.
  public func eraseRegistration(at issuer: String) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.eraseRegistration(at: issuer) }
  }
}
