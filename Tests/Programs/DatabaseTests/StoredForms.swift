import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import SequencingOAuthPipes

/// Samples of every stored format that a program has ever written.
///
/// Each file or database of accounts has the account ``record``, and each keyring item has
/// ``bracedRecord``. Sealed stores use ``StoreKey/testKey``.
enum StoredForms {
  static let folder = PackageSources.root.appending(path: "Tests/Forms")

  static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  static let record = AccountRecord(
    id: "alice", clientID: "client", issuer: "https://id.example", session: "session",
    token: SQToken(
      accessToken: "access", expirationDate: Date(timeIntervalSince1970: 1_750_003_600),
      scope: "demo", refreshToken: "refresh",
      issueDate: Date(timeIntervalSince1970: 1_750_000_000)))

  /// A record whose refresh token has braces, which some keyrings replace.
  static let bracedRecord = AccountRecord(
    id: "alice", clientID: "client", issuer: "https://id.example", session: "session",
    token: SQToken(
      accessToken: "access", expirationDate: record.token.expirationDate, scope: "demo",
      refreshToken: "{refresh}", issueDate: record.token.issueDate))

  /// A record with every member but those of ``sessionRecord`` and ``boundRecord``.
  static var wholeRecord: AccountRecord {
    get throws {
      try JSONDecoder().decode(AccountRecord.self, from: Data(text("record-1.json").utf8))
    }
  }

  /// A record whose ID token, from a refresh, does not name the session at the provider.
  static var sessionRecord: AccountRecord {
    get throws {
      try JSONDecoder().decode(
        AccountRecord.self, from: Data(text("record-session-1.json").utf8))
    }
  }

  /// A record whose tokens are bound to a key.
  static var boundRecord: AccountRecord {
    get throws {
      try JSONDecoder().decode(
        AccountRecord.self, from: Data(text("record-bound-1.json").utf8))
    }
  }

  static func webSignIn(_ form: String) throws -> WebSignIn {
    try JSONDecoder().decode(WebSignIn.self, from: Data(text("web-sign-in-\(form).json").utf8))
  }

  /// The URL of the resource to which the samples of partial downloads belong.
  static var url: URL {
    get throws { try #require(URL(string: "https://files.example/data?key=secret")) }
  }

  static func download(_ form: String) throws -> DownloadRecord {
    try #require(DownloadRecord(Data(text("download-\(form).info").utf8)))
  }

  static var registration: ClientRegistration {
    get throws {
      try JSONDecoder().decode(
        ClientRegistration.self, from: Data(contentsOf: folder.appending(path: "registration.json"))
      )
    }
  }

  /// Copies a sample to the path where a store expects it.
  static func copy(_ name: String, to path: String) throws {
    try Data(contentsOf: folder.appending(path: name)).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}
