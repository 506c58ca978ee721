import SQBasics
import SQFoundation
import SequencingOAuth

/// The database of a token store; the first call connects, and checks or creates the tables.
final class AccountDatabase: Sendable {
  /// How long to repeat a call while the server cannot be reached.
  enum RetryTime: Sendable {
    /// 5 s, for a call that the caller can repeat.
    case short
    /// The time limit of the call (`limit`), for a change that must not be lost.
    case long

    fileprivate func duration(within limit: Duration) -> Duration {
      switch self {
      case .short: min(.seconds(5), limit)
      case .long: limit
      }
    }
  }

  /// The longest time that a call waits for a free connection and for answers.
  ///
  /// The time to connect does not count.
  private let limit: Duration
  private let parts: Result<Parts, SQOAuthError>

  private struct Parts {
    let settings: ConnectionSettings
    let schema: DatabaseSchema
    let statements: AccountStatements
    let keys: AccountKeys
    let pool: ConnectionPool
  }

  init(
    connection: String, schema: String, keys: [StoreKey], connections: Int, limit: Duration,
    patience: Duration
  ) {
    self.limit = limit
    parts = Result { () throws(SQOAuthError) in
      let settings = try ConnectionSettings(
        connection, environment: ProcessInfo.processInfo.environment)
      let schema = try DatabaseSchema(schema)
      let statements = AccountStatements(schema: schema.name)
      let keys = AccountKeys(keys, statements, patience: patience)
      let pool = ConnectionPool(
        size: max(1, connections),
        open: { () throws(SQOAuthError) in try Self.connect(settings) },
        prepare: { connection throws(SQOAuthError) in
          try keys.open(schema, connection, until: .now + limit)
        })
      return Parts(
        settings: settings, schema: schema, statements: statements, keys: keys, pool: pool)
    }
  }

  /// Runs a body on a new thread, because connecting or opening a key may take a large part of a
  /// second.
  static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    guard let result = await Threads.run({ Result { () throws(SQOAuthError) in try body() } })
    else {
      throw SQOAuthError(.storeFailed, "the system could not start a thread for the token database")
    }
    return try result.get()
  }

  static func connect(_ settings: ConnectionSettings) throws(SQOAuthError) -> Connection {
    try PostgreSQLError.reported { () throws(PostgreSQLError) in try Connection(settings) }
  }

  deinit {
    try? parts.get().pool.close()
  }

  /// The settings and statements for a ``NoticeListener``; `nil` if a store's setting is wrong.
  var listening: (settings: ConnectionSettings, statements: AccountStatements)? {
    (try? parts.get()).map { ($0.settings, $0.statements) }
  }

  /// Adds a key for opening records.
  func give(_ key: StoreKey) {
    (try? parts.get())?.keys.give(key)
  }

  /// Runs a body with the table of accounts; the body may run several times.
  ///
  /// If the tables or the keys are not there, another program has removed them, or has restored a
  /// backup. Then this method opens the tables again as the first call did, and repeats the body.
  func use<Value>(
    _ retryTime: RetryTime = .short,
    _ body: (AccountTable) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let parts = try parts.get()
    return try await parts.pool.run(
      within: limit, retryingFor: retryTime.duration(within: limit)
    ) { (connection, deadline) throws(SQOAuthError) in
      var table = AccountTable(
        connection: connection, keys: parts.keys, statements: parts.statements, deadline: deadline)
      do throws(SQOAuthError) {
        let value = try await body(table)
        parts.keys.foundTables()
        return value
      } catch {
        guard error.lacksTables else { throw error }
        let start = ContinuousClock.now
        try await Self.onThread { () throws(SQOAuthError) in
          try parts.keys.open(parts.schema, connection, again: true, until: deadline)
        }
        table.deadline += .now - start
        return try await body(table)
      }
    }
  }
}
