/// The statements about accounts, leases and one-time values, for the tables of one schema.
///
/// If the answer to a statement is lost, the caller may repeat the statement, with the same result.
/// A repeated `put` or `erase` with the same ticket changes nothing, so it undoes no change that
/// another host has made meanwhile.
struct AccountStatements: Sendable {
  /// The `NOTIFY` channel for notices about these tables.
  let channel: String
  /// A script that lets a session receive notices.
  ///
  /// PostgreSQL keeps a notice until every session has read it, and the session of a suspended
  /// process reads nothing. So the script sets `tcp_user_timeout`, unless the administrator has set
  /// it: over TCP, the server then ends such a session 60 s after the socket is full. The setting
  /// has no effect on a local socket.
  let listen: String
  let header: SQLStatement
  let addHeader: SQLStatement
  let hasValues: SQLStatement
  let load: SQLStatement
  let ids: SQLStatement
  let firstPage: SQLStatement
  let page: SQLStatement
  let replace: SQLStatement
  let put: SQLStatement
  let erase: SQLStatement
  let eraseVersion: SQLStatement
  let takeLease: SQLStatement
  let lookAtLease: SQLStatement
  let doubtLease: SQLStatement
  let keepLease: SQLStatement
  let markSent: SQLStatement
  let endLease: SQLStatement
  let versions: SQLStatement
  let announce: SQLStatement
  let use: SQLStatement
  let wasUsed: SQLStatement
  let canWrite: SQLStatement
  let queue: AccountQueueStatements
  let keys: KeyStatements
  let registrations: RegistrationStatements
  let sessions: SessionStatements

  /// The seconds until a lease expires, except while its holder waits for a new token.
  ///
  /// The holder extends the lease several times in that time, for as long as it uses the lease.
  static let unsentSeconds = 10
  /// The seconds until a lease expires while its holder waits for a new token.
  ///
  /// A refresh takes at most 100 s; the rest of the time is for saving the answer.
  static let sentSeconds = 160
  /// The seconds that a holder has to extend its lease after another host has doubted it.
  ///
  /// A host doubts an expired lease whose holder may still wait for a new token.
  static let doubtSeconds = 10

  init(schema: String) {
    let keyStatements = KeyStatements(schema: schema)
    self.keys = keyStatements
    let newestKey = keyStatements.newest
    queue = AccountQueueStatements(schema: schema, keys: keyStatements)
    registrations = RegistrationStatements(schema: schema, keys: keyStatements)
    sessions = SessionStatements(schema: schema)
    channel = Notice.channel(schema: schema)
    listen = """
      SELECT pg_catalog.set_config('tcp_user_timeout', '60s', false)
      WHERE pg_catalog.current_setting('tcp_user_timeout', true) = '0';
      LISTEN \(channel)
      """
    let (accounts, leases, keys, used) = (
      "\(schema).accounts", "\(schema).leases", "\(schema).keys", "\(schema).used"
    )
    // After a failover, the stored times come from the clock of the earlier primary. The value of
    // this expression changes with each failover, so a stored value shows that there was one.
    let timeline =
      "pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)"
    // Times are sent as durations from now, because the clock of a host may be wrong.
    func after(_ seconds: String) -> String {
      "pg_catalog.clock_timestamp() + \(seconds)::double precision * interval '1 s'"
    }
    let unsent = "pg_catalog.clock_timestamp() + interval '\(Self.unsentSeconds) s'"
    let sent = "pg_catalog.clock_timestamp() + interval '\(Self.sentSeconds) s'"
    // If the server's clock jumped, a lease may have expired although its holder still waits for a
    // new token. So another host first doubts the lease by writing this value. If the holder still
    // runs, it removes the value.
    let doubted = "\(timeline) || '?'"

    header = SQLStatement(
      name: "header", text: "SELECT number, header FROM \(keys) ORDER BY number DESC LIMIT 1")
    addHeader = SQLStatement(
      name: "add_header",
      text: """
        INSERT INTO \(keys) (number, header) VALUES (1, $1::bytea) ON CONFLICT DO NOTHING
        """)
    hasValues = SQLStatement(
      name: "has_values",
      text: """
        SELECT EXISTS (SELECT FROM \(accounts)) OR EXISTS (SELECT FROM \(schema).registrations)
        """)
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
            server = $5::bytea, due = \(after("$6")), key_number = $7::integer,
            user_digest = $9::bytea, session_digest = $10::bytea, digests_of = $2::bigint + 1
          WHERE id = $1::bytea
            AND (version = $2::bigint AND \(keyStatements.isNewest("$7", "$11", orOld: "$8"))
              OR version = $2::bigint + 1 AND value = $3::bytea)
          RETURNING version),
        eased AS (
          UPDATE \(leases) SET sent = false, until = \(unsent), timeline = \(timeline)
          WHERE id = $1::bytea AND ticket = $4::bytea AND EXISTS (SELECT FROM saved))
        SELECT (SELECT version FROM saved), \(newestKey)
        """)
    // The versions of a row never repeat, even after an erasure and a new sign-in. So a host that
    // still knows the old row cannot overwrite the new one.
    let firstVersion =
      "(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint"
    let once = Self.once(
      "$9", schema: schema, if: keyStatements.isNewest("$5", "$10", orOld: "$6"))
    put = SQLStatement(
      name: "put",
      text: """
        WITH \(once),
        saved AS (
          INSERT INTO \(accounts) AS a (id, version, key_number, value, server, due,
            user_digest, session_digest, digests_of)
          SELECT $1::bytea, f.version, $5::integer, $2::bytea, $3::bytea, \(after("$4")),
            $7::bytea, $8::bytea, f.version
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
        WITH \(Self.once("$2", schema: schema))
        DELETE FROM \(accounts) WHERE id = $1::bytea AND EXISTS (SELECT FROM once)
        """)
    eraseVersion = SQLStatement(
      name: "erase_version",
      text: "DELETE FROM \(accounts) WHERE id = $1::bytea AND version = $2::bigint RETURNING true")
    // If a lease is taken again with the same ticket, it stays marked (`sent`), because it protects
    // an unsaved token.
    takeLease = SQLStatement(
      name: "take_lease",
      text: """
        INSERT INTO \(leases) AS l (id, ticket, holder, until, sent, timeline)
        VALUES ($1::bytea, $2::bytea, $3::text, \(unsent), false, \(timeline))
        ON CONFLICT (id) DO UPDATE SET ticket = excluded.ticket, holder = excluded.holder,
          sent = l.sent AND l.ticket = excluded.ticket,
          until = CASE WHEN l.sent AND l.ticket = excluded.ticket THEN \(sent)
            ELSE excluded.until END,
          timeline = excluded.timeline
        WHERE l.ticket = excluded.ticket
          OR l.timeline = CASE WHEN l.sent THEN \(doubted) ELSE excluded.timeline END
            AND l.until <= pg_catalog.clock_timestamp()
        RETURNING \(SQLStatement.unsynced)
        """)
    // Only a marked lease can be in doubt. Earlier versions may have left an unmarked one with that
    // value.
    lookAtLease = SQLStatement(
      name: "look_at_lease",
      text: """
        WITH renewed AS (
          UPDATE \(leases) SET timeline = \(timeline),
            until = CASE WHEN sent THEN \(sent) ELSE \(unsent) END
          WHERE id = $1::bytea
            AND (timeline NOT IN (\(timeline), CASE WHEN sent THEN \(doubted) ELSE \(timeline) END)
              OR until > CASE WHEN sent THEN \(sent) ELSE \(unsent) END))
        SELECT holder FROM \(leases) WHERE id = $1::bytea
        """)
    doubtLease = SQLStatement(
      name: "doubt_lease",
      text: """
        UPDATE \(leases) SET timeline = \(doubted),
          until = pg_catalog.clock_timestamp() + interval '\(Self.doubtSeconds) s'
        WHERE id = $1::bytea AND sent AND timeline = \(timeline)
          AND until <= pg_catalog.clock_timestamp()
        RETURNING \(SQLStatement.unsynced)
        """)
    // It never inserts a row: the lease may have been released when the statement arrives.
    keepLease = SQLStatement(
      name: "keep_lease",
      text: """
        UPDATE \(leases) SET timeline = \(timeline),
          until = CASE WHEN sent THEN \(sent) ELSE \(unsent) END
        WHERE id = $1::bytea AND ticket = $2::bytea
          AND (NOT sent OR timeline <> \(timeline) OR until <= pg_catalog.clock_timestamp())
        RETURNING \(SQLStatement.unsynced)
        """)
    markSent = SQLStatement(
      name: "mark_sent",
      text: """
        WITH marked AS (
          UPDATE \(leases) SET sent = true, until = \(sent), timeline = \(timeline)
          WHERE id = $1::bytea AND ticket = $2::bytea AND \(keyStatements.isNewest("$4", "$5"))
            AND EXISTS (SELECT FROM \(accounts) WHERE id = $1::bytea AND version = $3::bigint)
          RETURNING true)
        SELECT EXISTS (SELECT FROM marked), \(newestKey)
        """)
    endLease = SQLStatement(
      name: "end_lease",
      text: """
        DELETE FROM \(leases) WHERE id = $1::bytea AND ticket = $2::bytea
        RETURNING \(SQLStatement.unsynced)
        """)
    versions = SQLStatement(
      name: "versions",
      text: "SELECT id, version FROM \(accounts) WHERE id = ANY ($1::bytea[])")
    // For a notice, the commit need not wait for the disk or a standby.
    announce = SQLStatement(
      name: "announce",
      text: """
        SELECT \(SQLStatement.unsynced), pg_catalog.pg_notify($1::text, $2::text)
        """)
    use = SQLStatement(
      name: "use",
      text: """
        WITH \(Self.forgotten(except: "$1", schema: schema))
        INSERT INTO \(used) AS u (value, ticket, until)
        VALUES ($1::bytea, $2::bytea, \(after("$3")))
        ON CONFLICT (value) DO UPDATE SET until = excluded.until WHERE u.ticket = excluded.ticket
        RETURNING true
        """)
    wasUsed = SQLStatement(
      name: "was_used", text: "SELECT true FROM \(used) WHERE value = $1::bytea")
    canWrite = SQLStatement(
      name: "can_write",
      text: SQLStatement.canWrite(with: [
        accounts: ["INSERT", "UPDATE", "SELECT"], keys: ["SELECT"],
        leases: ["SELECT", "INSERT", "UPDATE"], used: ["SELECT", "INSERT", "UPDATE", "DELETE"],
      ]))
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
