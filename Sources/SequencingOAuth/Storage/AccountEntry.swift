public import SQBasics
public import SQFoundation

/// One account on a page of a store: its record, or the error that prevents reading it.
public struct AccountEntry: Sendable {
  /// The UTF-8 bytes of the account's id; they may be invalid in a damaged store.
  public let key: Data
  /// The account's record, or the reason why it cannot be read.
  public let record: Result<AccountRecord, SQOAuthError>

  /// Creates an entry from the bytes of an id and the result of reading the record.
  public init(key: Data, record: Result<AccountRecord, SQOAuthError>) {
    self.key = key
    self.record = record
  }

  /// Creates an entry from the result of reading an account's record.
  public init(_ id: String, _ record: Result<AccountRecord, SQOAuthError>) {
    self.init(key: Data(id.utf8), record: record)
  }

  /// The account's id.
  public var id: String { String(decoding: key, as: UTF8.self) }
}

extension AccountEntry: Redacted {
  /// The account's id, without its record.
  public var description: String { "entry of the account \"\(id.printable)\"" }
}

extension SQOAuthError {
  /// Whether a store may throw the error because of a single record, while other records are fine.
  package var concernsOneRecord: Bool {
    switch code {
    case .storeDamaged, .storeTooNew, .wrongPassphrase: true
    default: false
    }
  }
}
