import SQCrypto
import SQFoundation
import SequencingOAuth

/// The statements about encryption keys, for the tables of one schema.
struct KeyStatements: Sendable {
  let header: SQLStatement
  let newestHeader: SQLStatement
  let addFirst: SQLStatement
  let hasValues: SQLStatement
  let old: SQLStatement
  let reseal: SQLStatement
  /// Expressions for the number and the header of the newest key, for the results of other
  /// statements.
  let newest: String
  private let newestNumber: String
  private let table: String

  init(schema: String) {
    let accounts = "\(schema).accounts"
    table = "\(schema).keys"
    newestNumber = "(SELECT pg_catalog.max(number) FROM \(table))"
    newest = "\(newestNumber), (SELECT header FROM \(table) WHERE number = \(newestNumber))"
    header = SQLStatement(
      name: "key_header", text: "SELECT header FROM \(table) WHERE number = $1::integer")
    newestHeader = SQLStatement(
      name: "header", text: "SELECT number, header FROM \(table) ORDER BY number DESC LIMIT 1")
    addFirst = SQLStatement(
      name: "add_header",
      text: """
        INSERT INTO \(table) (number, header) VALUES (1, $1::bytea) ON CONFLICT DO NOTHING
        """)
    hasValues = SQLStatement(
      name: "has_values",
      text: """
        SELECT EXISTS (SELECT FROM \(accounts)) OR EXISTS (SELECT FROM \(schema).registrations)
        """)
    old = SQLStatement(
      name: "old_keys",
      text: """
        SELECT id, version, key_number, value FROM \(accounts)
        WHERE key_number < $1::integer AND id >= $2::bytea ORDER BY id LIMIT $3::bigint
        """)
    reseal = SQLStatement(
      name: "reseal",
      text: """
        UPDATE \(accounts) a SET value = n.value, key_number = $4::integer,
          user_digest = n.user_digest, session_digest = n.session_digest, digests_of = a.version
        FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::bigint[]),
          pg_catalog.unnest($3::bytea[]), pg_catalog.unnest($5::bytea[]),
          pg_catalog.unnest($6::bytea[])) AS n (id, version, value, user_digest, session_digest)
        WHERE a.id = n.id AND a.version = n.version AND a.key_number < $4::integer
          AND EXISTS (SELECT FROM \(table) WHERE number = $4::integer AND header = $7::bytea)
        """)
  }

  /// Returns a condition: the database has a key with this number and header.
  ///
  /// The number alone names no key: after a database was restored or created again, another key may
  /// get a number that a running program knows.
  func isHere(_ number: String, _ header: String) -> String {
    """
    EXISTS (SELECT FROM \(table)
      WHERE number = \(number)::integer AND header = \(header)::bytea)
    """
  }

  /// Returns a condition: a key is the newest one, or `orOld` is true and the database has the key.
  func isNewest(_ number: String, _ header: String, orOld: String = "false") -> String {
    """
    (\(isHere(number, header)) AND (\(orOld)::boolean OR \(number)::integer = \(newestNumber)))
    """
  }

  /// Returns a script that adds the header of a newer key, if `number` is still the newest.
  ///
  /// The lock waits for every statement that has already read the keys. So after this script, only
  /// a host without the newer key may still save with an older key.
  func add(_ header: Data, after number: Int64) -> String {
    """
    SELECT pg_catalog.set_config('lock_timeout', '10s', true);
    LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE;
    INSERT INTO \(table) (number, header)
    SELECT \(number) + 1, '\\x\(Hexadecimal.encode(header))'::bytea WHERE \(newestNumber) = \(number)
    """
  }
}
