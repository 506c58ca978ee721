/// The statements with which hosts hear of each other's changes, for the tables of one schema.
struct NoticeStatements: Sendable {
  /// The `NOTIFY` channel for notices about these tables.
  let channel: String
  /// A script that lets a session receive notices.
  ///
  /// PostgreSQL keeps a notice until every session has read it, and the session of a suspended
  /// process reads nothing. So the script sets `tcp_user_timeout`, unless the administrator has set
  /// it: over TCP, the server then ends such a session 60 s after the socket is full. The setting
  /// has no effect on a local socket.
  let listen: String
  let versions: SQLStatement
  let announce: SQLStatement

  init(schema: String) {
    let accounts = "\(schema).accounts"
    channel = Notice.channel(schema: schema)
    listen = """
      SELECT pg_catalog.set_config('tcp_user_timeout', '60s', false)
      WHERE pg_catalog.current_setting('tcp_user_timeout', true) = '0';
      LISTEN \(channel)
      """
    versions = SQLStatement(
      name: "versions",
      text: "SELECT id, version FROM \(accounts) WHERE id = ANY ($1::bytea[])")
    // For a notice, the commit need not wait for the disk or a standby.
    announce = SQLStatement(
      name: "announce",
      text: """
        SELECT \(SQLStatement.unsynced), pg_catalog.pg_notify($1::text, $2::text)
        """)
  }
}
