/// The statements about leases, for the tables of one schema.
struct LeaseStatements: Sendable {
  let take: SQLStatement
  let lookAt: SQLStatement
  let doubt: SQLStatement
  let keep: SQLStatement
  let markSent: SQLStatement
  let end: SQLStatement

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

  /// An expression whose value changes with each failover, so a stored value shows that there was
  /// one.
  ///
  /// After a failover, the stored times come from the clock of the earlier primary.
  static let timeline =
    "pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)"
  /// An expression for the time when a lease expires, unless its holder waits for a new token.
  static let unsent = "pg_catalog.clock_timestamp() + interval '\(unsentSeconds) s'"
  private static let sent = "pg_catalog.clock_timestamp() + interval '\(sentSeconds) s'"
  /// An expression for the timeline of a lease in doubt.
  ///
  /// If the server's clock jumped, a lease may have expired although its holder still waits for a
  /// new token. So another host first doubts the lease by writing this value. If the holder still
  /// runs, it removes the value.
  private static let doubted = "\(timeline) || '?'"

  init(schema: String, keys: KeyStatements) {
    let (accounts, leases) = ("\(schema).accounts", "\(schema).leases")
    // If a lease is taken again with the same ticket, it stays marked (`sent`), because it protects
    // an unsaved token.
    take = SQLStatement(
      name: "take_lease",
      text: """
        INSERT INTO \(leases) AS l (id, ticket, holder, until, sent, timeline)
        VALUES ($1::bytea, $2::bytea, $3::text, \(Self.unsent), false, \(Self.timeline))
        ON CONFLICT (id) DO UPDATE SET ticket = excluded.ticket, holder = excluded.holder,
          sent = l.sent AND l.ticket = excluded.ticket,
          until = CASE WHEN l.sent AND l.ticket = excluded.ticket THEN \(Self.sent)
            ELSE excluded.until END,
          timeline = excluded.timeline
        WHERE l.ticket = excluded.ticket
          OR l.timeline = CASE WHEN l.sent THEN \(Self.doubted) ELSE excluded.timeline END
            AND l.until <= pg_catalog.clock_timestamp()
        RETURNING \(SQLStatement.unsynced)
        """)
    // Only a marked lease can be in doubt. Earlier versions may have left an unmarked one with that
    // value.
    lookAt = SQLStatement(
      name: "look_at_lease",
      text: """
        WITH renewed AS (
          UPDATE \(leases) SET timeline = \(Self.timeline),
            until = CASE WHEN sent THEN \(Self.sent) ELSE \(Self.unsent) END
          WHERE id = $1::bytea
            AND (timeline NOT IN (\(Self.timeline), CASE WHEN sent THEN \(Self.doubted)
                ELSE \(Self.timeline) END)
              OR until > CASE WHEN sent THEN \(Self.sent) ELSE \(Self.unsent) END))
        SELECT holder FROM \(leases) WHERE id = $1::bytea
        """)
    doubt = SQLStatement(
      name: "doubt_lease",
      text: """
        UPDATE \(leases) SET timeline = \(Self.doubted),
          until = pg_catalog.clock_timestamp() + interval '\(Self.doubtSeconds) s'
        WHERE id = $1::bytea AND sent AND timeline = \(Self.timeline)
          AND until <= pg_catalog.clock_timestamp()
        RETURNING \(SQLStatement.unsynced)
        """)
    // It never inserts a row: the lease may have been released when the statement arrives.
    keep = SQLStatement(
      name: "keep_lease",
      text: """
        UPDATE \(leases) SET timeline = \(Self.timeline),
          until = CASE WHEN sent THEN \(Self.sent) ELSE \(Self.unsent) END
        WHERE id = $1::bytea AND ticket = $2::bytea
          AND (NOT sent OR timeline <> \(Self.timeline) OR until <= pg_catalog.clock_timestamp())
        RETURNING \(SQLStatement.unsynced)
        """)
    markSent = SQLStatement(
      name: "mark_sent",
      text: """
        WITH marked AS (
          UPDATE \(leases) SET sent = true, until = \(Self.sent), timeline = \(Self.timeline)
          WHERE id = $1::bytea AND ticket = $2::bytea AND \(keys.isNewest("$4", "$5"))
            AND EXISTS (SELECT FROM \(accounts) WHERE id = $1::bytea AND version = $3::bigint)
          RETURNING true)
        SELECT EXISTS (SELECT FROM marked), \(keys.newest)
        """)
    end = SQLStatement(
      name: "end_lease",
      text: """
        DELETE FROM \(leases) WHERE id = $1::bytea AND ticket = $2::bytea
        RETURNING \(SQLStatement.unsynced)
        """)
  }
}
