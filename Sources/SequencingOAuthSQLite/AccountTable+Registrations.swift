import SQCrypto
import SQFoundation
import SequencingOAuth

// Client registrations, each bound to its server.
extension AccountTable {
  func registration(at issuer: String) throws(SQOAuthError) -> ClientRegistration? {
    try registration(named: Digest.sha256(issuer))
  }

  private func registration(named server: Data) throws(SQOAuthError) -> ClientRegistration? {
    try reading { () throws(SQOAuthError) in
      try connection.run("SELECT value FROM registrations WHERE server = ?1", .blob(server)) {
        row throws(SQOAuthError) in try coding.registration(row.blob(0), at: server)
      }.first
    }
  }

  func put(_ registration: ClientRegistration) throws(SQOAuthError) {
    try write(registration)
    emptyLogAgain()
  }

  private func write(_ registration: ClientRegistration) throws(SQOAuthError) {
    let server = Digest.sha256(registration.issuer)
    // Like a record, a registration is saved only with the database's current key.
    try connection.run(
      """
      INSERT INTO registrations (server, value)
      SELECT ?1, ?2 WHERE (SELECT value FROM meta WHERE name = 'key') IS ?3
      ON CONFLICT (server) DO UPDATE SET value = excluded.value
      """, .blob(server), .blob(try coding.encode(registration, at: server)),
      .optional(coding.header)
    ) { _ in }
    guard connection.changes > 0 else { throw keyWasChanged }
  }

  /// Saves a registration if the stored one is `earlier`; returns the stored registration.
  func put(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) throws(SQOAuthError) -> ClientRegistration {
    let standing = try connection.transaction { () throws(SQOAuthError) in
      let kept = try self.registration(at: registration.issuer)
      if let kept, kept != earlier { return kept }
      try write(registration)
      return registration
    }
    // The log can be emptied only outside a transaction.
    emptyLogAgain()
    return standing
  }

  func eraseRegistration(at issuer: String) throws(SQOAuthError) {
    try connection.run(
      "DELETE FROM registrations WHERE server = ?1", .blob(Digest.sha256(issuer))
    ) { _ in }
    // An earlier call may have erased the registration and failed to empty the log.
    try emptyLog()
  }

  /// Encodes all registrations again, for another key or without encryption.
  ///
  /// Call it in a transaction.
  func recodeRegistrations(to new: RecordCoding) throws(SQOAuthError) {
    let rows = try connection.run("SELECT server, value FROM registrations") {
      (server: $0.blob(0), value: $0.blob(1))
    }
    for (server, value) in rows {
      let json = try coding.content(ofRegistration: value, at: server)
      try connection.run(
        "UPDATE registrations SET value = ?2 WHERE server = ?1", .blob(server),
        .blob(try new.encode(registration: json, at: server))
      ) { _ in }
    }
  }
}
