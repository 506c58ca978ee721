import Foundation
import LoopbackSupport
import SQBasics
import SQCrypto
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// Registrations in the same database file as the tokens.
@Suite(.timeLimit(.minutes(2))) struct SQLiteRegistrationTests {
  private func hexadecimal(_ issuer: String) -> String {
    Hexadecimal.encode(Digest.sha256(issuer))
  }

  @Test(arguments: [nil, SQLiteFolder.key], [nil, SQLiteFolder.otherKey])
  func `registrations are converted and stay readable when a key is set, changed or removed`(
    old: StoreKey?, new: StoreKey?
  ) async throws {
    let files = try SQLiteFolder()
    let registration = try await Registrations.atServersOfTheirOwn(1)[0]
    let store = files.store(old)
    try await store.save(registration)
    try await store.save(record("a"))
    let value = try await files.sql("SELECT hex(value) FROM registrations")
    try await store.changeKey(to: new)
    #expect(try await store.registration(at: registration.issuer) == registration)
    #expect(try await files.store(new).registration(at: registration.issuer) == registration)
    #expect(try await files.store(new).all() == [record("a")])
    if old != nil || new != nil {
      #expect(try await files.sql("SELECT hex(value) FROM registrations") != value)
    }
    let other = try await Registrations.atServersOfTheirOwn(1)[0]
    try await store.save(other)
    #expect(try await files.store(new).registration(at: other.issuer) == other)
    if (old == nil) != (new == nil) {
      await failure(.wrongPassphrase) {
        try await files.store(old).registration(at: registration.issuer)
      }
    }
  }

  @Test func `after a change of the key, a process with the old key cannot save a registration`()
    async throws
  {
    let files = try SQLiteFolder()
    let registration = try await Registrations.atServersOfTheirOwn(1)[0]
    let old = files.store(SQLiteFolder.key)
    try await old.save(registration)
    try await files.store(SQLiteFolder.key).changeKey(to: SQLiteFolder.otherKey)
    await failure(.wrongPassphrase) { try await old.save(registration) }
    #expect(
      try await files.store(SQLiteFolder.otherKey).registration(at: registration.issuer)
        == registration)
  }

  @Test(arguments: [nil, SQLiteFolder.key])
  func `a registration that was moved to another server or edited is reported as damaged`(
    key: StoreKey?
  ) async throws {
    let files = try SQLiteFolder()
    let registrations = try await Registrations.atServersOfTheirOwn(2)
    try await {
      let store = files.store(key)
      for registration in registrations { try await store.save(registration) }
    }()
    let issuers = registrations.map(\.issuer)
    try await files.sql(
      """
      UPDATE registrations SET value = (
        SELECT value FROM registrations WHERE server = x'\(hexadecimal(issuers[0]))')
      WHERE server = x'\(hexadecimal(issuers[1]))'
      """)
    await failure(.storeDamaged) { try await files.store(key).registration(at: issuers[1]) }
    #expect(try await files.store(key).registration(at: issuers[0]) == registrations[0])
    if key == nil {
      try await files.sql(
        """
        UPDATE registrations SET value =
          CAST(replace(CAST(value AS TEXT), 'client-', 'cli3nt-') AS BLOB)
        """)
      await failure(.storeDamaged) { try await files.store().registration(at: issuers[0]) }
    }
    await failure(.storeDamaged) { try await files.store(key).changeKey(to: .testKey) }
  }
}
