import Foundation
import SequencingOAuth
import TestSupport

/// What the folder of forms holds: a store of each form that a program has ever written, with the
/// account ``record``, sealed with ``StoreKey/testKey`` where it is sealed.
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

  static var registration: ClientRegistration {
    get throws {
      try JSONDecoder().decode(
        ClientRegistration.self, from: Data(contentsOf: folder.appending(path: "registration.json"))
      )
    }
  }

  /// Copies a form to where a store expects it.
  static func copy(_ name: String, to path: String) throws {
    try Data(contentsOf: folder.appending(path: name)).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}
