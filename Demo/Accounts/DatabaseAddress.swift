import SQCrypto
import SequencingOAuth

/// The address of a PostgreSQL database, without a password.
struct DatabaseAddress: Sendable, Equatable {
  /// A connection string of libpq: `postgresql://user@host/database`.
  let text: String

  /// Checks the value of `--store`, and returns `nil` if it is not the address of a database.
  ///
  /// - Throws: A usage failure if the address contains a password, because every user of the
  ///   machine can see command lines.
  init?(_ text: String) throws(Failure) {
    guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else { return nil }
    let rest = text.drop { $0 != ":" }.dropFirst(3)
    let query = rest.drop { $0 != "?" }.dropFirst()
    let user = rest.prefix { $0 != "/" && $0 != "?" }.split(
      separator: "@", omittingEmptySubsequences: false
    ).dropLast().joined()
    guard !user.contains(":"),
      !query.split(separator: "&").contains(where: { $0.lowercased().hasPrefix("password=") })
    else {
      throw .usage(
        "a password is never an argument, because every user of the machine can see arguments; put "
          + "it into ~/.pgpass, or into the environment variable PGPASSWORD")
    }
    self.text = text
  }

  /// Returns the connection string, with the password from the environment if there is one.
  func connection(_ password: Secret?) -> String {
    guard let password else { return text }
    let encoded = password.value.utf8.map { "%" + Hexadecimal.encode([$0]) }
    return text + (text.contains("?") ? "&" : "?") + "password=" + encoded.joined()
  }
}
