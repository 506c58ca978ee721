/// The statements about accounts, with those about all other subjects, for one schema.
///
/// If the answer to a statement is lost, the caller may repeat the statement, with the same result.
/// A repeated `put` or `erase` with the same ticket changes nothing, so it undoes no change that
/// another host has made meanwhile.
struct AccountStatements: Sendable {
  let load: SQLStatement
  let ids: SQLStatement
  let firstPage: SQLStatement
  let page: SQLStatement
  let replace: SQLStatement
  let put: SQLStatement
  let erase: SQLStatement
  let eraseVersion: SQLStatement
  let canWrite: SQLStatement
  let queue: AccountQueueStatements
  let keys: KeyStatements
  let registrations: RegistrationStatements
  let sessions: SessionStatements
  let leases: LeaseStatements
  let usedValues: UsedValueStatements
  let notices: NoticeStatements

  init(schema: String) {
    let keyStatements = KeyStatements(schema: schema)
    self.keys = keyStatements
    let newestKey = keyStatements.newest
    queue = AccountQueueStatements(schema: schema, keys: keyStatements)
    registrations = RegistrationStatements(schema: schema, keys: keyStatements)
    sessions = SessionStatements(schema: schema)
    leases = LeaseStatements(schema: schema, keys: keyStatements)
    usedValues = UsedValueStatements(schema: schema)
    notices = NoticeStatements(schema: schema)
    let (accounts, leaseTable, keys, used) = (
      "\(schema).accounts", "\(schema).leases", "\(schema).keys", "\(schema).used"
    )
    load = SQLStatement(
      name: "load",
      text: """
        SELECT version, value, key_number FROM \(accounts) WHERE id = $1::bytea
        """)
    ids = SQLStatement(name: "ids", text: "SELECT id FROM \(accounts) ORDER BY id")
    firstPage = SQLStatement(
      name: "first_page",
      text: "SELECT id, value, key_number FROM \(accounts) ORDER BY id LIMIT $1::bigint")
    page = SQLStatement(
      name: "page",
      text: """
        SELECT id, value, key_number FROM \(accounts)
        WHERE id > $1::bytea ORDER BY id LIMIT $2::bigint
        """)
    replace = SQLStatement(
      name: "replace",
      text: """
        WITH saved AS (
          UPDATE \(accounts) SET version = $2::bigint + 1, value = $3::bytea,
            server = $5::bytea, due = \(SQLStatement.after("$6")), key_number = $7::integer,
            user_digest = $9::bytea, session_digest = $10::bytea, digests_of = $2::bigint + 1
          WHERE id = $1::bytea
            AND (version = $2::bigint AND \(keyStatements.isNewest("$7", "$11", orOld: "$8"))
              OR version = $2::bigint + 1 AND value = $3::bytea)
          RETURNING version),
        eased AS (
          UPDATE \(leaseTable) SET sent = false, until = \(LeaseStatements.unsent),
            timeline = \(LeaseStatements.timeline)
          WHERE id = $1::bytea AND ticket = $4::bytea AND EXISTS (SELECT FROM saved))
        SELECT (SELECT version FROM saved), \(newestKey)
        """)
    // The versions of a row never repeat, even after an erasure and a new sign-in. So a host that
    // still knows the old row cannot overwrite the new one.
    let firstVersion =
      "(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint"
    let once = UsedValueStatements.once(
      "$9", schema: schema, if: keyStatements.isNewest("$5", "$10", orOld: "$6"))
    put = SQLStatement(
      name: "put",
      text: """
        WITH \(once),
        saved AS (
          INSERT INTO \(accounts) AS a (id, version, key_number, value, server, due,
            user_digest, session_digest, digests_of)
          SELECT $1::bytea, f.version, $5::integer, $2::bytea, $3::bytea,
            \(SQLStatement.after("$4")), $7::bytea, $8::bytea, f.version
          FROM (SELECT \(firstVersion) AS version) f
          WHERE EXISTS (SELECT FROM once)
          ON CONFLICT (id) DO UPDATE SET version = a.version + 1, value = excluded.value,
            server = excluded.server, due = excluded.due, key_number = excluded.key_number,
            user_digest = excluded.user_digest, session_digest = excluded.session_digest,
            digests_of = a.version + 1
          RETURNING version)
        SELECT (SELECT version FROM saved), \(newestKey)
        """)
    erase = SQLStatement(
      name: "erase",
      text: """
        WITH \(UsedValueStatements.once("$2", schema: schema))
        DELETE FROM \(accounts) WHERE id = $1::bytea AND EXISTS (SELECT FROM once)
        """)
    eraseVersion = SQLStatement(
      name: "erase_version",
      text: "DELETE FROM \(accounts) WHERE id = $1::bytea AND version = $2::bigint RETURNING true")
    canWrite = SQLStatement(
      name: "can_write",
      text: SQLStatement.canWrite(with: [
        accounts: ["INSERT", "UPDATE", "SELECT"], keys: ["SELECT"],
        leaseTable: ["SELECT", "INSERT", "UPDATE"], used: ["SELECT", "INSERT", "UPDATE", "DELETE"],
      ]))
  }
}
