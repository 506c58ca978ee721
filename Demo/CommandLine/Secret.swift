import SQBasics
import SQCrypto

/// A text that must not be an argument and must not appear in any output.
struct Secret: Sendable, Equatable {
  /// The purpose of a secret.
  enum Kind: Sendable {
    case clientSecret, passphrase, keyPassphrase, accessToken, databasePassword, proxyPassword
  }

  let kind: Kind
  let value: String

  init(_ kind: Kind, _ value: String) {
    self.kind = kind
    self.value = value
  }

  /// The maximum length of a file's first line in bytes; every secret is shorter.
  private static let longest = 64 * 1024

  /// Reads a secret from the first line of a file that other users cannot read.
  init(_ kind: Kind, file path: String) throws(Failure) {
    let line = try Failure.reading("the \(kind.name) file \(path)") {
      () throws(FileReading.ReadError) in
      try Self.firstLine(of: path)
    }
    self.init(kind, line)
    guard !value.isEmpty else {
      throw .usage("the \(kind.name) file \(path.onScreen) has an empty first line")
    }
  }

  private static func firstLine(of path: String) throws(FileReading.ReadError) -> String {
    // The limit also ends the read of a file without an end, such as /dev/zero.
    let content = try FileReading.secret(of: path, atMost: longest + 1)
    // Compare bytes, because a carriage return and a newline are a single Character.
    let line = content.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.contains(0) else {
      throw FileReading.ReadError("its first line has a NUL, so it is not text")
    }
    guard line.count <= longest else {
      throw FileReading.ReadError("its first line is longer than \(longest) bytes")
    }
    guard let text = String(validating: line, as: UTF8.self) else {
      throw FileReading.ReadError("it is not text in UTF-8")
    }
    return text
  }
}

extension Secret {
  /// The secret for a URL, with each byte percent-encoded.
  var percentEncoded: String { value.utf8.map { "%" + Hexadecimal.encode([$0]) }.joined() }
}

extension Secret.Kind {
  /// The name of the secret in error messages.
  var name: String {
    switch self {
    case .clientSecret: "client secret"
    case .passphrase: "passphrase"
    case .keyPassphrase: "key's passphrase"
    case .accessToken: "access token"
    case .databasePassword: "database password"
    case .proxyPassword: "proxy's password"
    }
  }

  /// The environment variable that may contain the secret.
  var variable: String {
    switch self {
    case .clientSecret: "SQ_CLIENT_SECRET"
    case .passphrase: "SQ_STORE_PASSPHRASE"
    case .keyPassphrase: "SQ_KEY_PASSPHRASE"
    case .accessToken: "SQ_ACCESS_TOKEN"
    // PostgreSQL's own programs read this name.
    case .databasePassword: "PGPASSWORD"
    case .proxyPassword: "SQ_PROXY_PASSWORD"
    }
  }
}

extension Secret: Redacted {
  /// The kind of the secret, not its value.
  var description: String { "a secret: \(kind.name)" }
}
