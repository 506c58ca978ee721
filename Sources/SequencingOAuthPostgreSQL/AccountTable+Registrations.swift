import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

// Client registrations, each encrypted and bound to its server.
extension AccountTable {
  private static let purpose = "registration"

  private static let damagedRegistration = SQOAuthError(
    .storeDamaged,
    "the token database: another program edited a client's registration; nothing was changed: "
      + "restore it from a backup, or erase it")

  func registration(at issuer: String) async throws(SQOAuthError) -> ClientRegistration? {
    try await stored(Self.name(ofServer: issuer))?.registration
  }

  private func stored(
    _ server: Data
  ) async throws(SQOAuthError) -> (registration: ClientRegistration, box: Data?)? {
    guard let row = try await run(statements.registrations.load, .bytes(server)).first else {
      return nil
    }
    let content = try await content(of: row, server)
    guard let registration = ClientRegistration(json: content) else {
      throw .tooNew("the token database: a client's registration")
    }
    return (registration, row.bytes(0))
  }

  /// Saves a registration, unless an earlier attempt with the same random ID `ticket` has done so.
  func put(_ registration: ClientRegistration, ticket: Data) async throws(SQOAuthError) {
    let server = Self.name(ofServer: registration.issuer)
    let content = try registration.json()
    try await savingByNewestKey { key, isOld throws(SQOAuthError) in
      let box = try key.sealer.seal(content, as: Self.purpose, with: server)
      let row = try await run(
        statements.registrations.put, .bytes(server), .bytes(box), .integer(key.number),
        .boolean(isOld), .bytes(ticket), .bytes(key.sealer.header)
      ).first
      return (row?.boolean(0) == true ? () : nil, presentKey(row, 1))
    }
  }

  /// Saves a registration if the stored one is `earlier`; returns the stored registration.
  func put(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    let server = Self.name(ofServer: registration.issuer)
    while true {
      let stored = try await stored(server)
      // The stored registration may be the new one, if the answer to an earlier attempt was lost.
      if let standing = stored?.registration, standing != earlier { return standing }
      if try await put(registration, server, over: stored?.box) { return registration }
    }
  }

  /// Throws if the server is read-only or the role lacks the rights to save a registration.
  func checkWritingRegistrations() async throws(SQOAuthError) {
    try await checkWriting(by: statements.registrations.canWrite)
  }

  /// Saves a registration if the stored value is `old` or missing; otherwise returns `false`.
  private func put(
    _ registration: ClientRegistration, _ server: Data, over old: Data?
  ) async throws(SQOAuthError) -> Bool {
    let content = try registration.json()
    let saved: Void? = try await savingByNewestKey { key, isOld throws(SQOAuthError) in
      let box = try key.sealer.seal(content, as: Self.purpose, with: server)
      let row = try await run(
        statements.registrations.replace, .bytes(server), .bytes(box), .integer(key.number),
        .boolean(isOld), old.map { .bytes($0) } ?? .null, .bytes(key.sealer.header)
      ).first
      return (row?.boolean(0) == true ? () : nil, presentKey(row, 1))
    }
    return saved != nil
  }

  /// Erases a registration, unless an earlier attempt with the same random ID `ticket` has done so.
  func eraseRegistration(at issuer: String, ticket: Data) async throws(SQOAuthError) {
    try await run(
      statements.registrations.erase, .bytes(Self.name(ofServer: issuer)), .bytes(ticket))
  }

  /// Encrypts registrations of older keys with a new key; returns how many are damaged.
  ///
  /// A registration stays unchanged if another host saves it in the meantime.
  func resealRegistrations(to key: Int64) async throws(SQOAuthError) -> Int {
    let sealer = try await sealer(self.key(key))
    var damaged = 0
    for row in try await run(statements.registrations.old, .integer(key)) {
      guard let old = row.bytes(0), let server = row.bytes(2) else {
        throw Self.damagedRegistration
      }
      do throws(SQOAuthError) {
        let content = try await content(of: row, server)
        let box = try sealer.seal(content, as: Self.purpose, with: server)
        try await run(
          statements.registrations.reseal, .bytes(server), .bytes(old), .bytes(box), .integer(key),
          .bytes(sealer.header))
      } catch {
        guard error.code == .storeDamaged else { throw error }
        damaged += 1
      }
    }
    return damaged
  }

  private func content(of row: SQLRow, _ server: Data) async throws(SQOAuthError) -> Data {
    guard let box = row.bytes(0), let key = row.integer(1) else { throw Self.damagedRegistration }
    return try await opening(key) { sealer throws(SQOAuthError) in
      do throws(SQOAuthError) {
        return try sealer.open(box, as: Self.purpose, with: server)
      } catch {
        throw error.code == .storeDamaged ? Self.damagedRegistration : error
      }
    }
  }

  /// Returns the name of a server in the table: a digest of its issuer.
  private static func name(ofServer issuer: String) -> Data { Digest.sha256(issuer) }
}
