/// A store's passphrase: from the environment, a file or a terminal, never printed.
struct Passphrase: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  static let variable = "SQ_STORE_PASSPHRASE"

  let value: String

  var description: String { "a passphrase" }
  var customMirror: Mirror { Mirror(self, children: [:]) }

  init(_ value: String) {
    self.value = value
  }

  /// Reads the first line of a file.
  init(file path: String) throws(Failure) {
    value = try Secrets.firstLine(of: path, "passphrase")
  }
}
