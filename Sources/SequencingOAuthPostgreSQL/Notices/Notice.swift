import SQBasics
import SequencingOAuth

/// What a store tells the others over `NOTIFY`: which accounts it has changed.
struct Notice: Sendable {
  /// The store that sends the notice, by a random name.
  let origin: String
  let names: [NoticeName]

  /// How many accounts fit into one notice: PostgreSQL takes less than 8000 bytes.
  static let limit = 400

  init(from origin: String, _ names: [NoticeName]) {
    self.origin = origin
    self.names = names
  }

  /// Reads a notice; what is no name, as from another program, is ignored.
  init(_ text: String) {
    let parts = text.split(separator: " ")
    origin = parts.first.map(String.init) ?? ""
    names = parts.dropFirst().compactMap { NoticeName($0) }
  }

  var text: String { ([origin] + names.map(\.text)).joined(separator: " ") }

  /// The channel of the stores that use a schema of a database.
  static func channel(schema: String) -> String {
    "sequencing_oauth_\(NoticeName(schema).text)"
  }
}
