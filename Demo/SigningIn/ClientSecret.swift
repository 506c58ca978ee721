import Basics

/// A client's secret: from the environment or a file, never from an argument, never printed.
struct ClientSecret: Sendable, Redacted {
  static let variable = "SQ_CLIENT_SECRET"

  let value: String

  var description: String { "a client secret" }

  init(_ value: String) {
    self.value = value
  }

  /// Reads the first line of a file.
  init(file path: String) throws(Failure) {
    value = try Secrets.firstLine(of: path, "client secret")
  }
}
