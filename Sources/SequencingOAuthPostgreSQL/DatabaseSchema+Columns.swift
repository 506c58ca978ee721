// What the tables of each version must look like.
extension DatabaseSchema {
  private static let names =
    "('accounts', 'keys', 'leases', 'pauses', 'registrations', 'store', 'used')"

  /// The statement that lists the columns of the tables, each with its type.
  static let columns = SQLStatement(
    name: "schema_columns",
    text: """
      SELECT c.relname || '.' || a.attname || ' ' ||
        pg_catalog.format_type(a.atttypid, a.atttypmod) ||
        CASE WHEN a.attnotnull THEN '' ELSE ' NULL' END
      FROM pg_catalog.pg_attribute a
      JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1::text AND c.relname IN \(names) AND c.relkind = 'r'
        AND a.attnum > 0 AND NOT a.attisdropped
      ORDER BY c.relname COLLATE "C", a.attnum
      """)

  /// The columns of the current tables.
  static let form =
    accountColumns + dueColumns + digestColumns + keyColumns + pauseColumns
    + ["pauses.asking boolean"]
    + valueColumns(registrations: true)

  /// The columns of the three forms of version 1.
  static let earlierForms = [
    accountColumns + keyColumns + valueColumns(registrations: false),
    accountColumns + dueColumns + keyColumns + pauseColumns + valueColumns(registrations: false),
    accountColumns + dueColumns + keyColumns + pauseColumns + valueColumns(registrations: true),
  ]

  private static let accountColumns = [
    "accounts.id bytea", "accounts.version bigint", "accounts.key_number integer",
    "accounts.value bytea",
  ]
  private static let dueColumns = [
    "accounts.server bytea", "accounts.due timestamp with time zone NULL",
  ]
  private static let digestColumns = [
    "accounts.user_digest bytea NULL", "accounts.session_digest bytea NULL",
    "accounts.digests_of bigint NULL",
  ]
  private static let keyColumns = [
    "keys.number integer", "keys.header bytea", "leases.id bytea", "leases.ticket bytea",
    "leases.holder text", "leases.until timestamp with time zone", "leases.sent boolean",
    "leases.timeline text",
  ]
  private static let pauseColumns = [
    "pauses.server bytea", "pauses.until timestamp with time zone", "pauses.failures integer",
  ]

  private static func valueColumns(registrations: Bool) -> [String] {
    guard registrations else { return ["store.version integer"] }
    return [
      "registrations.server bytea", "registrations.key_number integer",
      "registrations.value bytea", "store.version integer", "used.value bytea",
      "used.ticket bytea", "used.until timestamp with time zone",
    ]
  }

  /// A statement that finds objects that change the meaning of the store's statements.
  ///
  /// Such an object is a view or a partitioned table in place of a table, a trigger, a rule,
  /// row-level security, a table that is not permanent, or a table without a primary key.
  static let oddities = SQLStatement(
    name: "schema_oddities",
    text: """
      SELECT true FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1::text AND c.relname IN \(names) AND (
        c.relkind <> 'r' OR c.relpersistence <> 'p' OR c.relrowsecurity OR c.relhasrules
        OR EXISTS (SELECT FROM pg_catalog.pg_trigger t
          WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
        OR c.relname <> 'store' AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i
          WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid))
      """)
}
