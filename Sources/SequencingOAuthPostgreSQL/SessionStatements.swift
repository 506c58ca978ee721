/// The statements that find the accounts of a user or a session, for the tables of one schema.
struct SessionStatements: Sendable {
  let keys: SQLStatement
  let ofUser: SQLStatement
  let ofSession: SQLStatement
  let sealedByOthers: SQLStatement
  let unnoted: SQLStatement
  let note: SQLStatement

  init(schema: String) {
    let accounts = "\(schema).accounts"
    keys = SQLStatement(name: "key_numbers", text: "SELECT number, header FROM \(schema).keys")
    func search(_ name: String, _ column: String) -> SQLStatement {
      SQLStatement(
        name: name,
        text: """
          SELECT id, value, key_number FROM \(accounts) WHERE \(column) = ANY ($1::bytea[])
          """)
    }
    ofUser = search("of_user", "user_digest")
    ofSession = search("of_session", "session_digest")
    sealedByOthers = SQLStatement(
      name: "sealed_by_others",
      text: """
        SELECT id, value, key_number FROM \(accounts)
        WHERE key_number = ANY ($1::bigint[]) LIMIT 1
        """)
    // Hosts with an older program save records without changing the digests.
    unnoted = SQLStatement(
      name: "unnoted",
      text: """
        SELECT id, value, key_number, version FROM \(accounts)
        WHERE digests_of IS DISTINCT FROM version AND id > $1::bytea
        ORDER BY id LIMIT $2::bigint
        """)
    note = SQLStatement(
      name: "note_digests",
      text: """
        UPDATE \(accounts) a SET user_digest = n.user_digest, session_digest = n.session_digest,
          digests_of = a.version
        FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::bigint[]),
          pg_catalog.unnest($3::bigint[]), pg_catalog.unnest($4::bytea[]),
          pg_catalog.unnest($5::bytea[]))
          AS n (id, version, key_number, user_digest, session_digest)
        WHERE a.id = n.id AND a.version = n.version AND a.key_number = n.key_number
        """)
  }
}
