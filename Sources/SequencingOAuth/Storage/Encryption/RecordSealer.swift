import SQBasics
package import SQFoundation

/// A sealer that encrypts one store's records, each of them bound to the id of its account.
///
/// With a passphrase, creating a sealer takes a large part of a second of computing; with a key
/// file, it reads that file. So create a sealer on a thread that may block, and keep it. Its error
/// messages do not name the store; the caller knows the path and adds it.
package struct RecordSealer: Sendable {
  private let sealing: SealHeader

  /// Creates the sealer of a new store, and the key file if it is missing.
  package static func make(_ key: StoreKey) throws(SQOAuthError) -> RecordSealer {
    RecordSealer(sealing: try SealHeader(for: key.secret(makingFile: true)))
  }

  private init(sealing: SealHeader) {
    self.sealing = sealing
  }

  /// Creates the sealer of an existing store from the ``header`` in the store.
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase``, even if the store has no record;
  ///   ``SQOAuthError/Code/storeTooNew``; ``SQOAuthError/Code/storeDamaged``; the errors of a key
  ///   file.
  package init(_ key: StoreKey, header: Data) throws(SQOAuthError) {
    sealing = try SealHeader(header, secret: key.secret(makingFile: false))
  }

  /// The line of JSON that the store keeps unencrypted, so that it can be opened again.
  package var header: Data { sealing.bytes }

  /// Encrypts a record.
  package func seal(_ record: AccountRecord) throws(SQOAuthError) -> Data {
    try seal(json: try record.json(), id: record.id)
  }

  /// Encrypts the JSON of an account's record.
  package func seal(json: Data, id: String) throws(SQOAuthError) -> Data {
    try sealing.service.seal(json, authenticating: Self.context(id))
  }

  /// Decrypts the record of an account.
  ///
  /// - Throws: ``SQOAuthError/Code/storeDamaged``, also if the box belongs to a different account;
  ///   ``SQOAuthError/Code/storeTooNew``.
  package func open(_ box: Data, id: String) throws(SQOAuthError) -> AccountRecord {
    try StoredDecoder.whole(
      AccountRecord.self, from: json(in: box, id: id), named: AccountRecord.name(of: id))
  }

  /// Decrypts the JSON of an account's record, which this version may be unable to read.
  package func json(in box: Data, id: String) throws(SQOAuthError) -> Data {
    do throws(SQOAuthError) {
      return try sealing.service.open(box, authenticating: Self.context(id))
    } catch {
      guard error.code == .storeDamaged else { throw error }
      throw SQOAuthError(
        .storeDamaged,
        "the record of the account \"\(id.printable)\" is damaged, or was encrypted for another "
          + "account or with another key; nothing was changed: restore a copy, or erase the account "
          + "and sign in again")
    }
  }

  /// Encrypts additional data of a store, such as the list of its accounts.
  package func seal(
    _ plaintext: Data, as purpose: String, with context: Data
  ) throws(SQOAuthError) -> Data {
    try sealing.service.seal(plaintext, authenticating: Self.context(purpose, context))
  }

  /// Decrypts data from ``seal(_:as:with:)`` with the same purpose and context.
  package func open(
    _ box: Data, as purpose: String, with context: Data
  ) throws(SQOAuthError) -> Data {
    try sealing.service.open(box, authenticating: Self.context(purpose, context))
  }

  /// Returns a name for an account's files next to the store.
  ///
  /// The name reveals nothing about the account's id to a program without the key.
  func name(of id: String) throws(SQOAuthError) -> Data {
    try sealing.service.fingerprint(of: Data(Self.context("name", Data(id.utf8)).joined()))
  }

  /// Returns a digest of the provider's name for a user or a session.
  ///
  /// It reveals nothing to a program without the key.
  package func digest(of session: SessionName) throws(SQOAuthError) -> Data {
    try sealing.service.fingerprint(of: Data(Self.context("session", session.bytes).joined()))
  }

  /// Returns the digests of a record's user and session, for a store's index.
  package func digests(of record: AccountRecord) throws(SQOAuthError) -> SessionDigests {
    try SessionDigests(of: record, by: digest)
  }

  private static func context(_ id: String) -> [Data] {
    context("record", Data(id.utf8))
  }

  /// Returns the context of a sealed box in two parts: a line with its purpose and version, and the
  /// content that belongs to it.
  ///
  /// A purpose contains no line break, so two contexts are equal only if both parts are.
  private static func context(_ purpose: String, _ content: Data) -> [Data] {
    [Data("SequencingOAuth \(purpose) \(SealHeader.currentVersion)\n".utf8), content]
  }
}
