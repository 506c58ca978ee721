import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The database of a token store; the first call connects, and checks or makes the tables.
final class AccountDatabase: Sendable {
  /// How long a call is repeated while the server cannot be reached.
  enum Patience: Sendable {
    /// For a call that the caller can make again.
    case short
    /// For a token that is only in memory.
    case long

    fileprivate func duration(within limit: Duration) -> Duration {
      switch self {
      case .short: min(.seconds(5), limit)
      case .long: limit
      }
    }
  }

  /// How long a call may take, without the time of connecting.
  private let limit: Duration
  private let settings: Result<ConnectionSettings, SQOAuthError>
  private let pool: Result<ConnectionPool, SQOAuthError>
  private let tables: Result<(schema: DatabaseSchema, statements: AccountStatements), SQOAuthError>
  private let key: StoreKey
  /// The sealer of the records; `nil` until the tables were checked.
  private let sealer = Locked<RecordSealer?>(nil)

  init(
    connection: String, schema: String, key: StoreKey, connections: Int, limit: Duration
  ) {
    let settings = Result { () throws(SQOAuthError) in
      try ConnectionSettings(connection, environment: ProcessInfo.processInfo.environment)
    }
    self.settings = settings
    pool = settings.map { ConnectionPool($0, size: max(1, connections)) }
    tables = Result { () throws(SQOAuthError) in
      let schema = try DatabaseSchema(schema)
      return (schema, AccountStatements(schema: schema.name))
    }
    self.key = key
    self.limit = limit
  }

  deinit {
    try? pool.get().close()
  }

  /// What is needed to listen for changes; `nil` if a setting of the store is wrong.
  var listening: (settings: ConnectionSettings, statements: AccountStatements)? {
    guard let settings = try? settings.get(), let tables = try? tables.get() else { return nil }
    return (settings, tables.statements)
  }

  /// Runs a body with the table of accounts; the body may run several times.
  func use<Value: Sendable>(
    _ patience: Patience = .short,
    _ body: @escaping @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let (schema, statements) = try tables.get()
    return try await pool.get().run(within: limit, retryingFor: patience.duration(within: limit)) {
      [self] (connection, deadline) throws(SQOAuthError) in
      let sealer = try sealer.withLock { sealer throws(SQOAuthError) in
        if let sealer { return sealer }
        try schema.open(connection, until: deadline)
        let opened = try open(connection, statements, until: deadline)
        sealer = opened
        return opened
      }
      return try body(
        AccountTable(
          connection: connection, sealer: sealer, statements: statements, deadline: deadline))
    }
  }

  /// Reads the header of the key, and makes one in a new database.
  private func open(
    _ connection: Connection, _ statements: AccountStatements,
    until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> RecordSealer {
    if let header = try header(connection, statements, until: deadline) {
      return try sealer(header)
    }
    let new = try RecordSealer.make(key)
    do throws(PostgreSQLError) {
      _ = try connection.run(statements.addHeader, [.bytes(new.header)], until: deadline)
    } catch {
      throw error.reported
    }
    // Another host may have made one at the same time.
    guard let header = try header(connection, statements, until: deadline) else {
      throw SQOAuthError(.storeDamaged, "the token database: it cannot keep its key's header")
    }
    return try header == new.header ? new : sealer(header)
  }

  private func header(
    _ connection: Connection, _ statements: AccountStatements,
    until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> Data? {
    do throws(PostgreSQLError) {
      return try connection.run(statements.header, [], until: deadline).first?.bytes(1)
    } catch {
      throw error.reported
    }
  }

  private func sealer(_ header: Data) throws(SQOAuthError) -> RecordSealer {
    do throws(SQOAuthError) {
      return try RecordSealer(key, header: header)
    } catch {
      throw SQOAuthError(
        error.code, "the token database: \(error.message)", cause: error.cause)
    }
  }
}
