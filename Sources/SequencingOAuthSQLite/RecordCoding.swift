import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a record is written in the database.
enum RecordCoding {
  /// As JSON with a digest, which records of older versions of the SDK do not have.
  case clear
  /// As JSON in a box that fits its account only.
  case sealed(RecordSealer)

  /// The coding of a new database.
  static func make(_ key: StoreKey?) throws(SQOAuthError) -> RecordCoding {
    guard let key else { return .clear }
    return .sealed(try RecordSealer.make(key))
  }

  /// The coding of a database whose header was kept.
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

  /// What is kept in the database, so that it can be opened again.
  var header: Data? {
    switch self {
    case .clear: nil
    case .sealed(let sealer): sealer.header
    }
  }

  /// What seals the records, if they are sealed.
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

  /// The record that is an account's own; another one's is as good as a damaged one.
  func decode(_ value: Data, id: String) throws(SQOAuthError) -> AccountRecord {
    let record =
      switch self {
      case .sealed(let sealer): try sealer.open(value, id: id)
      case .clear:
        EmbeddedDigest.isWhole(value)
          ? try? JSONDecoder().decode(AccountRecord.self, from: value) : nil
      }
    guard let record, record.id == id else {
      throw SQOAuthError(.storeDamaged, "a record cannot be understood; it is left as it is")
    }
    return record
  }
}
