import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The accounts in the database, for one call on one connection.
struct AccountTable {
  let connection: Connection
  let sealer: RecordSealer
  let statements: AccountStatements
  let deadline: ContinuousClock.Instant

  // MARK: Records

  /// An account's record and the version of its row.
  func load(_ id: String) throws(SQOAuthError) -> (record: AccountRecord, version: Int64)? {
    guard let row = try run(statements.load, .bytes(Data(id.utf8))).first else { return nil }
    guard let version = row.integer(0) else { throw Self.damaged }
    return (try decode(row.bytes(1), id: id), version)
  }

  /// Saves a record, whatever the account had before; returns the row's new version.
  func put(_ record: SealedRecord) throws(SQOAuthError) -> Int64 {
    let rows = try run(
      statements.put, .bytes(Data(record.id.utf8)), .bytes(record.box), .bytes(record.server),
      .seconds(record.due))
    guard let version = rows.first?.integer(0) else { throw Self.damaged }
    return version
  }

  /// Saves a record in place of the one with a version; returns `false` if the account has no such
  /// record any more.
  func replace(
    version: Int64, _ record: SealedRecord, ticket: Data
  ) throws(SQOAuthError) -> Bool {
    try !run(
      statements.replace, .bytes(Data(record.id.utf8)), .integer(version), .bytes(record.box),
      .bytes(ticket), .bytes(record.server), .seconds(record.due)
    ).isEmpty
  }

  func erase(_ id: String) throws(SQOAuthError) {
    try run(statements.erase, .bytes(Data(id.utf8)))
  }

  func list() throws(SQOAuthError) -> [String] {
    var ids: [String] = []
    for row in try run(statements.ids) { ids.append(try id(row)) }
    return ids.sorted()
  }

  /// The records of the accounts whose ids come after another one, in the order of their bytes.
  func page(after id: String?, atMost count: Int) throws(SQOAuthError) -> [AccountRecord] {
    let count = SQLValue.integer(Int64(max(0, count)))
    let rows =
      if let id {
        try run(statements.page, .bytes(Data(id.utf8)), count)
      } else {
        try run(statements.firstPage, count)
      }
    var records: [AccountRecord] = []
    for row in rows {
      records.append(try decode(row.bytes(1), id: try self.id(row)))
    }
    return records
  }

  // MARK: Leases

  /// Takes an account's lease; returns `false` while another caller has it.
  func takeLease(_ id: String, ticket: Data, holder: String) throws(SQOAuthError) -> Bool {
    try !run(
      statements.takeLease, .bytes(Data(id.utf8)), .bytes(ticket), .text(holder)
    ).isEmpty
  }

  /// Describes the holder of an account's lease.
  ///
  /// After a failover or a jump of the server's clock, the lease gets its whole time again.
  func holder(_ id: String) throws(SQOAuthError) -> String? {
    try run(statements.lookAtLease, .bytes(Data(id.utf8))).first?.text(0)
  }

  /// Notes that a refresh token is about to be sent; returns `false` if it must not be sent.
  ///
  /// It must not if another holder has taken the lease over, or if the record has changed.
  func markSent(_ id: String, ticket: Data, version: Int64) throws(SQOAuthError) -> Bool {
    try !run(
      statements.markSent, .bytes(Data(id.utf8)), .bytes(ticket), .integer(version)
    ).isEmpty
  }

  func endLease(_ id: String, ticket: Data) throws(SQOAuthError) {
    try run(statements.endLease, .bytes(Data(id.utf8)), .bytes(ticket))
  }

  /// Throws if the role or the server would not let a record be saved.
  func checkWriting() throws(SQOAuthError) {
    guard try run(statements.canWrite).first?.boolean(0) == true else {
      throw SQOAuthError(
        .storeFailed,
        "the token database: its server only reads, or its role may not save; name the primary in "
          + "the connection string, and grant the rights that the documentation lists")
    }
  }

  // MARK: Rows

  @discardableResult
  func run(
    _ statement: SQLStatement, _ values: SQLValue...
  ) throws(SQOAuthError) -> [SQLRow] {
    do throws(PostgreSQLError) {
      return try connection.run(statement, values, until: deadline)
    } catch {
      throw error.reported
    }
  }

  func id(_ row: SQLRow) throws(SQOAuthError) -> String {
    guard let bytes = row.bytes(0), let id = String(validating: bytes, as: UTF8.self) else {
      throw SQOAuthError(
        .storeDamaged, "the token database: an account's id is not text; it is left as it is")
    }
    return id
  }

  func decode(_ value: Data?, id: String) throws(SQOAuthError) -> AccountRecord {
    guard let value, let record = try? sealer.open(value, id: id), record.id == id else {
      throw Self.damaged
    }
    return record
  }

  private static let damaged = SQOAuthError(
    .storeDamaged,
    "the token database: a record was edited, or was sealed with another key; it is left as it is")
}
