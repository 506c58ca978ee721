import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// The format of records in a database: plain JSON or encrypted.
enum RecordCoding {
  /// JSON with a digest; records of older versions of the SDK have no digest.
  case clear
  /// JSON that is encrypted and bound to its account.
  case sealed(RecordSealer)

  /// Creates the coding of a new database.
  static func make(_ key: StoreKey?) throws(SQOAuthError) -> RecordCoding {
    guard let key else { return .clear }
    return .sealed(try RecordSealer.make(key))
  }

  /// Creates the coding of an existing database from its stored header.
  init(_ key: StoreKey?, header: Data?) throws(SQOAuthError) {
    switch (key, header) {
    case (nil, nil): self = .clear
    case (let key?, let header?): self = .sealed(try RecordSealer(key, header: header))
    case (nil, .some):
      throw SQOAuthError(.wrongPassphrase, "it is encrypted, and was opened without a key")
    case (.some, nil):
      throw SQOAuthError(.wrongPassphrase, "it is not encrypted, and was opened with a key")
    }
  }

  /// The data that the database must store to decrypt its records later; `nil` without encryption.
  var header: Data? {
    switch self {
    case .clear: nil
    case .sealed(let sealer): sealer.header
    }
  }

  /// The object that encrypts and decrypts records; `nil` without encryption.
  var sealer: RecordSealer? {
    switch self {
    case .clear: nil
    case .sealed(let sealer): sealer
    }
  }

  func encode(_ record: AccountRecord) throws(SQOAuthError) -> Data {
    switch self {
    case .sealed(let sealer): try sealer.seal(record)
    case .clear: EmbeddedDigest.appended(to: try record.json())
    }
  }

  /// Returns the digests that find a record by its user or session; they depend on the key.
  func digests(of record: AccountRecord) throws(SQOAuthError) -> SessionDigests {
    try SessionDigests(of: record, by: digest)
  }

  /// Returns the digest of a user or a session at a provider.
  func digest(of name: SessionName) throws(SQOAuthError) -> Data {
    switch self {
    case .sealed(let sealer): try sealer.digest(of: name)
    case .clear: Digest.sha256(name.bytes)
    }
  }

  /// Decodes an account's record; throws `storeDamaged` for the record of another account.
  func decode(_ value: Data, id: String) throws(SQOAuthError) -> AccountRecord {
    let record =
      switch self {
      case .sealed(let sealer): try sealer.open(value, id: id)
      case .clear:
        EmbeddedDigest.isWhole(value)
          ? try StoredDecoder.value(AccountRecord.self, from: value) : nil
      }
    guard let record, record.id == id else {
      throw SQOAuthError(
        .storeDamaged,
        "a record is damaged and was not changed; restore a copy of the database, or erase the "
          + "record's account and sign in again")
    }
    return record
  }

  // MARK: Registrations

  private static let registration = "registration"

  /// Encodes the registration at a server; encryption also binds it to that server.
  func encode(
    _ registration: ClientRegistration, at server: Data
  ) throws(SQOAuthError) -> Data {
    guard let json = try? JSONEncoder().encode(registration) else {
      throw SQOAuthError(.storeFailed, "the registration cannot be written as JSON")
    }
    return switch self {
    case .sealed(let sealer): try sealer.seal(json, as: Self.registration, with: server)
    case .clear: EmbeddedDigest.appended(to: json)
    }
  }

  /// Decodes the registration at a server; throws `storeDamaged` if it is for another server.
  func registration(_ value: Data, at server: Data) throws(SQOAuthError) -> ClientRegistration {
    let json: Data?
    switch self {
    case .sealed(let sealer):
      do throws(SQOAuthError) {
        json = try sealer.open(value, as: Self.registration, with: server)
      } catch {
        guard error.code == .storeDamaged else { throw error }
        json = nil
      }
    case .clear: json = EmbeddedDigest.isWhole(value) ? value : nil
    }
    guard let json,
      let registration = try? JSONDecoder().decode(ClientRegistration.self, from: json),
      Digest.sha256(registration.issuer) == server
    else {
      throw SQOAuthError(
        .storeDamaged,
        "a client's registration is damaged and was not changed; restore a copy of the database")
    }
    return registration
  }
}
