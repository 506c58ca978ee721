/// The statements about client registrations, for the tables of one schema.
struct RegistrationStatements: Sendable {
  let load: SQLStatement
  let put: SQLStatement
  let replace: SQLStatement
  let erase: SQLStatement
  let old: SQLStatement
  let reseal: SQLStatement
  let canWrite: SQLStatement

  init(schema: String, keys: KeyStatements) {
    let table = "\(schema).registrations"
    load = SQLStatement(
      name: "load_registration",
      text: "SELECT value, key_number FROM \(table) WHERE server = $1::bytea")
    let once = UsedValueStatements.once(
      "$5", schema: schema, if: keys.isNewest("$3", "$6", orOld: "$4"))
    put = SQLStatement(
      name: "put_registration",
      text: """
        WITH \(once),
        saved AS (
          INSERT INTO \(table) (server, key_number, value)
          SELECT $1::bytea, $3::integer, $2::bytea
          WHERE EXISTS (SELECT FROM once)
          ON CONFLICT (server) DO UPDATE SET value = excluded.value,
            key_number = excluded.key_number
          RETURNING true)
        SELECT EXISTS (SELECT FROM saved), \(keys.newest)
        """)
    // If there is no old value, `$5` is null and no row is updated.
    replace = SQLStatement(
      name: "replace_registration",
      text: """
        WITH saved AS (
          INSERT INTO \(table) AS r (server, key_number, value)
          SELECT $1::bytea, $3::integer, $2::bytea
          WHERE \(keys.isNewest("$3", "$6", orOld: "$4"))
          ON CONFLICT (server) DO UPDATE SET value = excluded.value,
            key_number = excluded.key_number
          WHERE r.value = $5::bytea
          RETURNING true)
        SELECT EXISTS (SELECT FROM saved), \(keys.newest)
        """)
    erase = SQLStatement(
      name: "erase_registration",
      text: """
        WITH \(UsedValueStatements.once("$2", schema: schema))
        DELETE FROM \(table) WHERE server = $1::bytea AND EXISTS (SELECT FROM once)
        """)
    old = SQLStatement(
      name: "old_registrations",
      text: "SELECT value, key_number, server FROM \(table) WHERE key_number < $1::integer")
    reseal = SQLStatement(
      name: "reseal_registration",
      text: """
        UPDATE \(table) SET value = $3::bytea, key_number = $4::integer
        WHERE server = $1::bytea AND value = $2::bytea AND \(keys.isHere("$4", "$5"))
        """)
    canWrite = SQLStatement(
      name: "can_write_registrations",
      text: SQLStatement.canWrite(with: [table: ["SELECT", "INSERT", "UPDATE"]]))
  }
}
