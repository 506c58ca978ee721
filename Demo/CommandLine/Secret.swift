import Basics

/// A text that must not be an argument, and that no output shows.
struct Secret: Sendable, Equatable {
  /// The purpose of a secret.
  enum Kind: Sendable {
    case clientSecret, passphrase, accessToken, databasePassword
  }

  let kind: Kind
  let value: String

  init(_ kind: Kind, _ value: String) {
    self.kind = kind
    self.value = value
  }

  /// Reads the first line of a file, which other users must not be able to read.
  init(_ kind: Kind, file path: String) throws(Failure) {
    let content: String
    do throws(FileReading.ReadError) {
      content = try Self.read(path)
    } catch {
      throw .unreadable("the \(kind.name) file \(path)", error)
    }
    // By bytes, since a carriage return and a newline are one Character.
    let line = content.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty else {
      throw .usage("the \(kind.name) file \(path.onScreen) has an empty first line")
    }
    self.init(kind, String(Substring(line)))
  }

  private static func read(_ path: String) throws(FileReading.ReadError) -> String {
    // The limit is longer than any secret, and it ends the read of a source without an end.
    let bytes = try FileReading.secret(of: path, atMost: 64 * 1024)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileReading.ReadError("it is not text in UTF-8")
    }
    return text
  }
}

extension Secret.Kind {
  /// The name of the secret in error messages.
  var name: String {
    switch self {
    case .clientSecret: "client secret"
    case .passphrase: "passphrase"
    case .accessToken: "access token"
    case .databasePassword: "database password"
    }
  }

  /// The environment variable that may contain the secret.
  var variable: String {
    switch self {
    case .clientSecret: "SQ_CLIENT_SECRET"
    case .passphrase: "SQ_STORE_PASSPHRASE"
    case .accessToken: "SQ_ACCESS_TOKEN"
    // The name that every program of PostgreSQL reads.
    case .databasePassword: "PGPASSWORD"
    }
  }
}

extension Secret: Redacted {
  /// The kind of the secret, not its value.
  var description: String { "a secret: \(kind.name)" }
}
