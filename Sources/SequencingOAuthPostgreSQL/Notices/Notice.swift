import SQBasics
import SequencingOAuth

/// A message that a store sends to other stores with `NOTIFY`: the accounts that it has changed.
struct Notice: Sendable {
  /// The random name of the store that sends the notice.
  let origin: String
  let names: [NoticeName]

  /// The most accounts in one notice: PostgreSQL accepts less than 8000 bytes.
  static let limit = 400

  init(from origin: String, _ names: [NoticeName]) {
    self.origin = origin
    self.names = names
  }

  /// Reads a notice: the sender's name, then the accounts; ignores words that are not names.
  init(_ text: String) {
    let parts = text.split(separator: " ")
    origin = parts.first.map(String.init) ?? ""
    names = parts.dropFirst().compactMap { NoticeName($0) }
  }

  var text: String { ([origin] + names.map(\.text)).joined(separator: " ") }

  /// Returns the `NOTIFY` channel of the stores that use a schema.
  static func channel(schema: String) -> String {
    "sequencing_oauth_\(NoticeName(schema).text)"
  }
}
