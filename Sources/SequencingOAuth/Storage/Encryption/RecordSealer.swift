#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Seals the records of one store, each in a box of its own that fits its account only.
///
/// To make or open one takes a good part of a second of computing with a passphrase, and reads the
/// key file where there is one; do it on a thread that may block, and keep it. Its messages do not
/// name the store: who knows its path adds that.
package struct RecordSealer: Sendable {
  private let sealing: SealHeader

  /// The sealer of a new store.
  ///
  /// A key file that is not there is made.
  package static func make(_ key: StoreKey) throws(SQOAuthError) -> RecordSealer {
    RecordSealer(sealing: try SealHeader(for: key.secret(makingFile: true)))
  }

  private init(sealing: SealHeader) {
    self.sealing = sealing
  }

  /// The sealer of a store whose ``header`` was kept.
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase``, also where the store has no record;
  ///   ``SQOAuthError/Code/storeTooNew``; ``SQOAuthError/Code/storeDamaged``.
  package init(_ key: StoreKey, header: Data) throws(SQOAuthError) {
    sealing = try SealHeader(header, secret: key.secret(makingFile: false))
  }

  /// What the store keeps in clear, so that it can be opened again: one line of JSON.
  package var header: Data { sealing.bytes }

  /// Encrypts a record.
  package func seal(_ record: AccountRecord) throws(SQOAuthError) -> Data {
    try sealing.service.seal(try record.json(), authenticating: Self.context(record.id))
  }

  /// Decrypts the record of an account.
  ///
  /// - Throws: ``SQOAuthError/Code/storeDamaged``, also for the box of another account.
  package func open(_ box: Data, id: String) throws(SQOAuthError) -> AccountRecord {
    let plaintext = try sealing.service.open(box, authenticating: Self.context(id))
    guard let record = try? JSONDecoder().decode(AccountRecord.self, from: plaintext) else {
      throw SQOAuthError(.storeDamaged, "a record's content cannot be understood")
    }
    return record
  }

  /// Encrypts what a store holds beside its records.
  func seal(
    _ plaintext: Data, as purpose: String, with context: Data
  ) throws(SQOAuthError) -> Data {
    try sealing.service.seal(plaintext, authenticating: Self.context(purpose, context))
  }

  /// Decrypts it.
  func open(_ box: Data, as purpose: String, with context: Data) throws(SQOAuthError) -> Data {
    try sealing.service.open(box, authenticating: Self.context(purpose, context))
  }

  /// A name for an account's files beside the store, which shows nothing of the account's id to
  /// a reader without the key.
  func name(of id: String) throws(SQOAuthError) -> Data {
    try sealing.service.fingerprint(of: Self.context("name", Data(id.utf8)))
  }

  private static func context(_ id: String) -> Data {
    context("record", Data(id.utf8))
  }

  /// No purpose has a line break, so two contexts are the same only if all their parts are.
  private static func context(_ purpose: String, _ content: Data) -> Data {
    Data("SequencingOAuth \(purpose) \(SealHeader.currentVersion)\n".utf8) + content
  }
}
