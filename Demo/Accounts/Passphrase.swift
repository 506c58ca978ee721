import Basics

/// A store's passphrase: from the environment, a file or a terminal, never printed.
struct Passphrase: Sendable, Equatable, Redacted {
  static let variable = "SQ_STORE_PASSPHRASE"

  let value: String

  var description: String { "a passphrase" }

  init(_ value: String) {
    self.value = value
  }

  /// Reads the first line of a file.
  init(file path: String) throws(Failure) {
    value = try Secrets.firstLine(of: path, "passphrase")
  }
}
