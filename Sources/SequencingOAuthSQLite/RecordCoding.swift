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
    try encode(json: try record.json(), id: record.id)
  }

  /// Encodes the JSON of an account's record.
  func encode(json: Data, id: String) throws(SQOAuthError) -> Data {
    switch self {
    case .sealed(let sealer): try sealer.seal(json: json, id: id)
    case .clear: EmbeddedDigest.appended(to: json)
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

  /// Decodes an account's record; throws `storeDamaged` for the record of another account, and
  /// `storeTooNew` for an undamaged record of a later version of the SDK.
  func decode(_ value: Data, id: String) throws(SQOAuthError) -> AccountRecord {
    let (json, isWhole) = try content(of: value, id: id)
    let record =
      isWhole
      ? try StoredDecoder.whole(AccountRecord.self, from: json, named: AccountRecord.name(of: id))
      : try StoredDecoder.value(AccountRecord.self, from: json)?.withoutLaterMembers()
    guard let record, record.id == id else { throw Self.damagedRecord }
    return record
  }

  /// Returns the JSON of an account's record, and whether it is undamaged for certain.
  func content(of value: Data, id: String) throws(SQOAuthError) -> (json: Data, isWhole: Bool) {
    switch self {
    case .sealed(let sealer): return (try sealer.json(in: value, id: id), true)
    case .clear:
      guard let content = EmbeddedDigest.content(of: value) else { throw Self.damagedRecord }
      return (content.json, content.hadDigest)
    }
  }

  private static let damagedRecord = SQOAuthError(
    .storeDamaged,
    "a record is damaged and was not changed; restore a copy of the database, or erase the "
      + "record's account and sign in again")

  // MARK: Registrations

  private static let registration = "registration"

  /// Encodes the registration at a server; encryption also binds it to that server.
  func encode(
    _ registration: ClientRegistration, at server: Data
  ) throws(SQOAuthError) -> Data {
    try encode(registration: try registration.json(), at: server)
  }

  /// Encodes the JSON of the registration at a server.
  func encode(registration json: Data, at server: Data) throws(SQOAuthError) -> Data {
    switch self {
    case .sealed(let sealer): try sealer.seal(json, as: Self.registration, with: server)
    case .clear: EmbeddedDigest.appended(to: json)
    }
  }

  /// Decodes the registration at a server; throws `storeDamaged` if it is for another server, and
  /// `storeTooNew` if a later version of the SDK wrote it.
  func registration(_ value: Data, at server: Data) throws(SQOAuthError) -> ClientRegistration {
    let json = try content(ofRegistration: value, at: server)
    guard let registration = ClientRegistration(json: json) else {
      throw .tooNew("a client's registration")
    }
    guard Digest.sha256(registration.issuer) == server else { throw Self.damagedRegistration }
    return registration
  }

  /// Returns the JSON of the registration at a server.
  func content(ofRegistration value: Data, at server: Data) throws(SQOAuthError) -> Data {
    switch self {
    case .sealed(let sealer):
      do throws(SQOAuthError) {
        return try sealer.open(value, as: Self.registration, with: server)
      } catch {
        throw error.code == .storeDamaged ? Self.damagedRegistration : error
      }
    case .clear:
      // Every version of the SDK has written a digest here.
      guard case (let json, true)? = EmbeddedDigest.content(of: value) else {
        throw Self.damagedRegistration
      }
      return json
    }
  }

  private static let damagedRegistration = SQOAuthError(
    .storeDamaged,
    "a client's registration is damaged and was not changed; restore a copy of the database")
}
