import CSQPostgreSQL
import SQBasics
import SequencingOAuth

/// An error of the database or of the connection to it.
///
/// Its text is the server's primary message or libpq's message. Both name tables, servers and
/// roles, but never a stored value or a password.
struct PostgreSQLError: Error, CustomStringConvertible {
  enum Kind {
    /// No server could be reached, or the connection broke; the server may have run the statement.
    case disconnected
    /// The server gave no answer in time; it may have run the statement.
    case timedOut
    /// The statement was not sent, because the call's time limit passed or the system lacks a
    /// thread or a descriptor.
    case notSent
    /// The server rejected a statement or a login with this SQLSTATE.
    case refused(String)
  }

  let kind: Kind
  let message: String

  /// The SQLSTATE of a statement that did not get a lock within `lock_timeout`.
  static let lockNotFree = "55P03"

  /// The error if the server gave no answer before the call's deadline.
  static let noAnswer = Self(.timedOut, "it gave no answer in time")

  /// The error if the call's time limit passed before its statement was sent.
  static let late = Self(.notSent, "the call's time limit passed before its statement was sent")

  /// The error if the call's time limit passed before the call got a connection.
  static let busy = Self(
    .notSent,
    "all of the store's connections were busy until the time limit passed, so it may need more")

  /// The error if no event loop can wait for the server.
  static var noLoop: Self { Self(.notSent, EventLoop.absence) }

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// Reads the error from the result of a failed statement.
  init(result: OpaquePointer?) {
    let state = PQresultErrorField(result, sq_error_state).map { String(cString: $0) }
    let text = PQresultErrorField(result, sq_error_text).map { String(cString: $0) }
    kind = state.map { .refused($0) } ?? .disconnected
    message = (text ?? "the connection broke").printable
  }

  /// Reads the error from a failed connection.
  init(connection: OpaquePointer?) {
    let text = PQerrorMessage(connection).map { String(cString: $0).streamSafe } ?? ""
    let lines = text.split(separator: "\n").joined(separator: "; ")
    message = lines.isEmpty ? "the connection broke" : lines.printable
    if PQconnectionNeedsPassword(connection) != 0 {
      kind = .refused("28000")
    } else if PQconnectionUsedPassword(connection) != 0, text.contains("authentication failed") {
      // libpq has no SQLSTATE for a rejected login. PostgreSQL and PgBouncer write this text. A
      // server with messages in another language counts as unreachable.
      kind = .refused("28P01")
    } else {
      kind = .disconnected
    }
  }

  var description: String { message }

  /// The SQLSTATE if the server rejected a statement or a login.
  var state: String? {
    if case .refused(let state) = kind { state } else { nil }
  }

  /// Whether the same statement may succeed on a new connection.
  ///
  /// That is so for a broken connection, a server that starts or stops, a session that an
  /// administrator ended, a former primary that is now read-only, a deadlock, too many connections,
  /// and a prepared statement that the server does not know.
  var isPassing: Bool {
    switch kind {
    case .disconnected: true
    case .timedOut, .notSent: false
    case .refused(let state):
      state.hasPrefix("08") || state.hasPrefix("57P") || state.hasPrefix("40")
        || ["25006", "53300", "26000"].contains(state)
    }
  }

  /// Whether the connection cannot be used any more.
  var endsConnection: Bool {
    switch kind {
    case .disconnected, .timedOut: true
    case .notSent: false
    case .refused(let state):
      state.hasPrefix("08") || state.hasPrefix("57P") || state == "25006" || state == "26000"
    }
  }

  /// The error for the app, with advice on what to do.
  var reported: SQOAuthError {
    let code: SQOAuthError.Code = isDamage ? .storeDamaged : .storeFailed
    return SQOAuthError(code, "the token database: \(message)\(advice)", cause: self)
  }

  /// Runs calls of the database that block, and turns their error into ``reported``.
  static func reported<Value>(
    _ calls: () throws(PostgreSQLError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(PostgreSQLError) {
      return try calls()
    } catch {
      throw error.reported
    }
  }

  /// Whether a table, a column or the schema does not exist.
  var lacksTables: Bool { ["42P01", "42703", "3F000"].contains(state) }

  /// Whether a table or a column does not exist or has the wrong type.
  private var isDamage: Bool {
    lacksTables || ["42804", "42883", "42P10"].contains(state)
  }

  private var advice: String {
    switch kind {
    case .disconnected:
      "; check that the server runs and can be reached, the role and its password"
    // Do not say that nothing was changed: an earlier statement of the call may have changed rows.
    case .notSent: "; try again"
    case .timedOut: "; the server may still execute the statement"
    case .refused(let state):
      switch state {
      case _ where isDamage:
        "; another program altered the tables; restore a backup, or use another schema"
      case Self.lockNotFree:
        "; another session, such as a backup, holds the tables: try again when it has ended"
      case "42501": "; grant the role the rights that the documentation lists"
      case "25006": "; the server is read-only: name the primary in the connection string"
      case "53100": "; the disk of the database server is full: make room on it"
      case "28P01": "; the server refused the password: give the store the role's current one"
      case "28000": "; check the role, its password and the server's pg_hba.conf"
      default: ""
      }
    }
  }
}
