/// The statements about due accounts and paused servers, for the tables of one schema.
struct AccountQueueStatements: Sendable {
  let take: SQLStatement
  let next: SQLStatement
  let postpone: SQLStatement
  let pause: SQLStatement
  let resume: SQLStatement
  let giveBack: SQLStatement

  init(schema: String, keys: KeyStatements) {
    let (accounts, pauses) = ("\(schema).accounts", "\(schema).pauses")
    let isNewest = keys.isNewest("$3", "$7")
    let now = "pg_catalog.clock_timestamp()"
    // Comparisons with this time can use an index. A time that changes during a statement would be
    // compared with every row of the index.
    let start = "pg_catalog.statement_timestamp()"
    func after(_ seconds: String, _ time: String) -> String {
      "\(time) + \(seconds)::double precision * interval '1 s'"
    }
    func after(_ seconds: String) -> String { after(seconds, now) }
    // The time when a claim ends. The microseconds of this time are the claim's mark.
    let claimed =
      "pg_catalog.date_trunc('second', \(after("$2")) + interval '1 s') "
      + "+ $4::double precision * interval '1 us'"
    func isMarked(_ date: String) -> String {
      "pg_catalog.date_part('microseconds', \(date))::bigint % 1000000 = ANY ($5::bigint[])"
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
        SELECT s.server, p.until, p.failures, p.asking FROM servers s
        LEFT JOIN \(pauses) p ON p.server = s.server WHERE s.server IS NOT NULL)
      """
    // After a pause, a server first gets only one request. Until that request is answered or its
    // claim ends, no process gets another account of the server. A process without the newest key
    // gets nothing, because it could not renew the accounts. The accounts of claims whose answers
    // were lost come first. Servers that are less busy (`$6`) come before others, and one server gets
    // at most half of the places at once. So a slow server does not take all of them.
    take = SQLStatement(
      name: "take_due",
      text: """
        WITH \(open),
        lost AS MATERIALIZED (
          SELECT c.id, o.server, o.asking IS TRUE AS paused FROM open o
          CROSS JOIN LATERAL (
            SELECT a.id FROM \(accounts) a
            WHERE a.server = o.server AND a.due > \(start)
              AND a.due <= \(after("$2", start)) + interval '2 s' AND \(isMarked("a.due"))
            LIMIT $1::bigint
            FOR UPDATE SKIP LOCKED) c
          WHERE \(isNewest) AND pg_catalog.cardinality($5::bigint[]) > 0
          LIMIT $1::bigint),
        chosen AS MATERIALIZED (
          SELECT c.id, o.server, o.failures IS NOT NULL AS paused
          FROM (SELECT * FROM open ORDER BY
            COALESCE(pg_catalog.array_position($6::bytea[], server), 0), pg_catalog.random()) o
          CROSS JOIN LATERAL (
            SELECT a.id FROM \(accounts) a
            WHERE a.server = o.server AND a.due <= \(start)
            ORDER BY a.due
            LIMIT CASE WHEN o.failures IS NULL THEN $1::bigint / 2 + $1::bigint % 2 ELSE 1 END
            FOR UPDATE SKIP LOCKED) c
          WHERE \(isNewest) AND (o.until IS NULL OR o.until <= \(now))
            AND NOT EXISTS (SELECT FROM lost)
          LIMIT $1::bigint),
        asked AS (
          UPDATE \(pauses) p SET asking = true, until = \(claimed)
          FROM (SELECT server, true AS again FROM lost WHERE paused
            UNION SELECT server, false FROM chosen WHERE paused) c
          WHERE p.server = c.server
            AND CASE WHEN c.again THEN p.asking ELSE p.until <= \(now) END
          RETURNING p.server),
        taken AS (
          SELECT id, paused FROM lost
          UNION ALL SELECT id, paused FROM chosen
          WHERE NOT paused OR server IN (SELECT server FROM asked))
        UPDATE \(accounts) a SET due = \(claimed)
        FROM taken WHERE a.id = taken.id
        RETURNING a.id, a.value, a.key_number, taken.paused, a.version, a.server,
          pg_catalog.date_part('epoch', \(now)), \(SQLStatement.unsynced)
        """)
    next = SQLStatement(
      name: "next_due",
      text: """
        WITH \(open)
        SELECT pg_catalog.date_part('epoch', pg_catalog.min(GREATEST(o.until,
          (SELECT a.due FROM \(accounts) a WHERE a.server = o.server AND a.due IS NOT NULL
            ORDER BY a.due LIMIT 1)) - \(now))), \(keys.newest)
        FROM open o
        """)
    postpone = SQLStatement(
      name: "postpone",
      text: """
        UPDATE \(accounts) SET due = \(after("$2"))
        WHERE id = $1::bytea AND version = $3::bigint AND due IS NOT NULL
        RETURNING \(SQLStatement.unsynced)
        """)
    // If several requests fail together, only one of them counts as a further failure. If the first
    // request after a pause fails, it always counts.
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
