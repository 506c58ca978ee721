import SQBasics
import SequencingOAuth

/// The address of a PostgreSQL database, without a password or another secret.
struct DatabaseAddress: Sendable, Equatable {
  /// A connection string of libpq: `postgresql://user@host/database`.
  let text: String

  /// Checks the value of `--store`, and returns `nil` if it is not the address of a database.
  ///
  /// - Throws: A usage failure if the address contains a secret, because every user of the machine
  ///   can see command lines.
  init?(_ text: String) throws(Failure) {
    let scheme = ["postgresql://", "postgres://"].first { text.utf8.starts(with: $0.utf8) }
    guard let scheme else { return nil }
    try Self.check(text.utf8.dropFirst(scheme.utf8.count))
    self.text = text
  }

  /// The parameters of libpq, besides the password, whose values are secrets.
  private static let secrets = [
    "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
  ]

  /// Throws if an address, given without its scheme, contains a secret.
  ///
  /// The address is split as libpq splits it: by bytes, with the user name before the first `@`.
  private static func check(_ address: Substring.UTF8View) throws(Failure) {
    let (at, colon) = (UInt8(ascii: "@"), UInt8(ascii: ":"))
    let (slash, question) = (UInt8(ascii: "/"), UInt8(ascii: "?"))
    let user = address.prefix { $0 != at && $0 != slash }
    let end = address.dropFirst(user.count)
    let hasUser = end.first == at
    let rest = hasUser ? end.dropFirst() : address
    let host = rest.prefix { $0 != slash && $0 != question }
    // A user name or a password may contain an @ that is not encoded, so check up to the last @.
    let remainder = host.lastIndex(of: at).map { host[..<$0] }
    let query = String(Substring(rest.drop { $0 != question }.dropFirst()))
    let names = FormCoding.mend(query).map { $0.name.trimmed.lowercased() }
    guard !(hasUser && user.contains(colon)), remainder?.contains(colon) != true,
      !names.contains("password")
    else {
      throw .usage(
        "a password is never an argument, because every user of the machine can see arguments; put "
          + "it into ~/.pgpass, or into the environment variable PGPASSWORD")
    }
    guard let secret = secrets.first(where: names.contains) else { return }
    throw .usage(
      "the parameter \(secret) is never an argument, because every user of the machine can see "
        + "arguments; put it into ~/.pg_service.conf, and name its section by service=NAME")
  }

  /// Returns the connection string, with the password from the environment if there is one.
  func connection(_ password: Secret?) -> String {
    guard let password else { return text }
    return text + (text.contains("?") ? "&" : "?") + "password=" + password.percentEncoded
  }
}
