/// The statements about due accounts and paused servers, for the tables of one schema.
struct AccountQueueStatements: Sendable {
  let take: SQLStatement
  let next: SQLStatement
  let postpone: SQLStatement
  let pause: SQLStatement
  let resume: SQLStatement
  let giveBack: SQLStatement

  init(schema: String, newestKey: String) {
    let (accounts, pauses) = ("\(schema).accounts", "\(schema).pauses")
    let now = "pg_catalog.clock_timestamp()"
    func after(_ seconds: String) -> String {
      "\(now) + \(seconds)::double precision * interval '1 s'"
    }
    // Each step of the recursion jumps to the next server in the index.
    let open = """
      RECURSIVE servers AS (
        (SELECT server FROM \(accounts) WHERE due IS NOT NULL ORDER BY server LIMIT 1)
        UNION ALL
        SELECT (SELECT a.server FROM \(accounts) a
          WHERE a.due IS NOT NULL AND a.server > s.server ORDER BY a.server LIMIT 1)
        FROM servers s WHERE s.server IS NOT NULL),
      open AS (
        SELECT s.server, p.until, p.failures FROM servers s
        LEFT JOIN \(pauses) p ON p.server = s.server WHERE s.server IS NOT NULL)
      """
    // A server that was paused gets one request first: until that is answered, or its time is over,
    // no process gets another of the server's accounts. A process without the newest key takes
    // nothing, since it could not renew what it takes.
    take = SQLStatement(
      name: "take_due",
      text: """
        WITH \(open),
        chosen AS MATERIALIZED (
          SELECT c.id, o.server, o.failures
          FROM (SELECT * FROM open ORDER BY pg_catalog.random()) o
          CROSS JOIN LATERAL (
            SELECT a.id FROM \(accounts) a
            WHERE a.server = o.server AND a.due <= \(now)
            ORDER BY a.due
            LIMIT CASE WHEN o.failures IS NULL THEN $1::bigint ELSE 1 END
            FOR UPDATE SKIP LOCKED) c
          WHERE $3::integer = \(newestKey) AND (o.until IS NULL OR o.until <= \(now))
          LIMIT $1::bigint),
        asked AS (
          UPDATE \(pauses) p SET asking = true, until = \(after("$2"))
          FROM chosen c
          WHERE p.server = c.server AND c.failures IS NOT NULL AND p.until <= \(now)
          RETURNING p.server)
        UPDATE \(accounts) a SET due = \(after("$2"))
        FROM chosen WHERE a.id = chosen.id
          AND (chosen.failures IS NULL OR chosen.server IN (SELECT server FROM asked))
        RETURNING a.id, a.value, a.key_number, chosen.failures IS NOT NULL, a.version,
          \(SQLStatement.unsynced)
        """)
    next = SQLStatement(
      name: "next_due",
      text: """
        WITH \(open)
        SELECT pg_catalog.date_part('epoch', pg_catalog.min(GREATEST(o.until,
          (SELECT a.due FROM \(accounts) a WHERE a.server = o.server AND a.due IS NOT NULL
            ORDER BY a.due LIMIT 1)) - \(now))), \(newestKey)
        FROM open o
        """)
    postpone = SQLStatement(
      name: "postpone",
      text: """
        UPDATE \(accounts) SET due = \(after("$2"))
        WHERE id = $1::bytea AND version = $3::bigint AND due IS NOT NULL
        RETURNING \(SQLStatement.unsynced)
        """)
    // Of requests that fail together, one makes the pause longer. The one that a paused server gets
    // first counts by itself.
    let isOver = "(p.asking OR p.until <= \(now))"
    pause = SQLStatement(
      name: "pause",
      text: """
        INSERT INTO \(pauses) AS p (server, until, failures)
        VALUES ($1::bytea, \(after("GREATEST($2::double precision, 1)")), 1)
        ON CONFLICT (server) DO UPDATE SET
          failures = LEAST(p.failures + CASE WHEN \(isOver) THEN 1 ELSE 0 END, 16),
          until = GREATEST(CASE WHEN p.asking THEN \(now) ELSE p.until END, \(after("""
            GREATEST($2::double precision,
              CASE WHEN \(isOver) THEN LEAST(2 ^ p.failures, 60) ELSE 0 END)
            """))),
          asking = false
        RETURNING pg_catalog.date_part('epoch', until - \(now))
        """)
    resume = SQLStatement(
      name: "resume",
      text: "DELETE FROM \(pauses) p WHERE server = $1::bytea AND \(isOver)")
    giveBack = SQLStatement(
      name: "give_back",
      text: """
        UPDATE \(pauses) SET asking = false, until = \(now)
        WHERE server = $1::bytea AND asking
        """)
  }
}
