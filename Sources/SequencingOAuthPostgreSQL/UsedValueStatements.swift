/// The statements about one-time values, for the tables of one schema.
struct UsedValueStatements: Sendable {
  let use: SQLStatement
  let wasUsed: SQLStatement

  init(schema: String) {
    let used = "\(schema).used"
    use = SQLStatement(
      name: "use",
      text: """
        WITH \(Self.forgotten(except: "$1", schema: schema))
        INSERT INTO \(used) AS u (value, ticket, until)
        VALUES ($1::bytea, $2::bytea, \(SQLStatement.after("$3")))
        ON CONFLICT (value) DO UPDATE SET until = excluded.until WHERE u.ticket = excluded.ticket
        RETURNING true
        """)
    wasUsed = SQLStatement(
      name: "was_used", text: "SELECT true FROM \(used) WHERE value = $1::bytea")
  }

  /// Returns parts of a `WITH` clause that let a call's statement take effect only once.
  ///
  /// Another host may change a row after an attempt whose answer was lost, and the next attempt
  /// must not undo that change. The part `once` has a row only if the condition holds, and if no
  /// earlier attempt with the same random ID (`ticket`) had the row.
  static func once(_ ticket: String, schema: String, if condition: String = "true") -> String {
    """
    \(forgotten(except: ticket, schema: schema)),
    once AS (
      INSERT INTO \(schema).used (value, ticket, until)
      SELECT \(ticket)::bytea, \(ticket)::bytea, pg_catalog.clock_timestamp()
      WHERE \(condition)
      ON CONFLICT (value) DO NOTHING
      RETURNING true)
    """
  }

  /// Returns a part of a `WITH` clause that deletes a few expired values.
  ///
  /// Each call that stores a value also deletes up to four expired values, so that they do not
  /// accumulate.
  private static func forgotten(except value: String, schema: String) -> String {
    """
    forgotten AS (
      DELETE FROM \(schema).used WHERE value IN (
        SELECT value FROM \(schema).used
        WHERE until < pg_catalog.statement_timestamp() - interval '1 hour'
          AND value <> \(value)::bytea
        ORDER BY until LIMIT 4 FOR UPDATE SKIP LOCKED))
    """
  }
}
