import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The accounts' items in the keyring, next to those of other programs.
@Suite(.timeLimit(.minutes(2)), .requires(.keyring)) struct KeyringItemTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(_ desktop: PrivateDesktop, service: String = "app") -> SecretServiceTokenStore
  {
    SecretServiceTokenStore(service: service, folder: folder.path, bus: desktop.address)
  }

  /// Adds an item as another program would.
  private func put(
    _ secret: String, _ attributes: [String: String], in desktop: PrivateDesktop
  ) async throws {
    let result = try await ChildProcess.run(
      ["secret-tool", "store", "--label=other"] + attributes.flatMap { [$0.key, $0.value] },
      environment: desktop.environment, input: .text(secret))
    try #require(result.status == 0, "\(result.errors)")
  }

  /// SHA-256 of `a`.
  private let digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

  private var attributes: [String: String] {
    ["oauth-service": "app", "oauth-account": digest, "oauth-format": "1"]
  }

  @Test func `services have separate accounts, and other programs' items are ignored`() async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    let (app, other) = (store(desktop), store(desktop, service: "other"))
    try await app.save(record("a"))
    try await other.save(record("a", token: SQToken(accessToken: "other's")))
    try await put("secret", ["service": "app"], in: desktop)
    #expect(try await app.all() == [record("a")])
    try await app.erase("a")
    #expect(try await app.list() == [])
    #expect(try await other.load("a")?.token.accessToken == "other's")
    let theirs = try await ChildProcess.run(
      ["secret-tool", "lookup", "service", "app"], environment: desktop.environment)
    #expect(theirs.output == "secret")
    await desktop.stop()
  }

  @Test func `labels and attributes identify an item and contain no secret`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let secret = "s3cr3t-of-the-token"
    let token = SQToken(
      accessToken: secret, refreshToken: secret,
      additionalFields: ["id_token": .string(secret)])
    try await store(desktop).save(
      AccountRecord(
        id: "alice\u{0}\u{202E}\n\(String(repeating: "x", count: 10_000))", clientID: "client",
        token: token, attributes: ["name": secret]))
    let seen = try await desktop.call(
      "/org/freedesktop/secrets/collection/login/1", "org.freedesktop.DBus.Properties.GetAll",
      "string:org.freedesktop.Secret.Item")
    #expect(seen.contains("\"app: account \"alice xxx"))
    #expect(seen.contains("oauth-account"))
    #expect(!seen.contains(secret) && !seen.contains("client"))
    #expect(seen.utf8.count < 2_000)
    // The value is text that another program can show.
    let value = try await ChildProcess.run(
      ["secret-tool", "lookup", "oauth-service", "app"], environment: desktop.environment)
    #expect(value.output.contains("\"access_token\":\"\(secret)\""))
    #expect(try !desktop.keyringFiles().contains { $0.range(of: Data(secret.utf8)) != nil })
    await desktop.stop()
  }

  @Test func `a record with unescaped braces from earlier versions can be read`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let old = record("a", token: SQToken(accessToken: "{TITLE}"))
    let json = String(decoding: try JSONEncoder().encode(old), as: UTF8.self)
    try #require(json.contains("{TITLE}"))
    try await put(json, attributes, in: desktop)
    let store = store(desktop)
    #expect(try await store.load("a") == old)
    try await store.save(old)
    let kept = try await ChildProcess.run(
      ["secret-tool", "lookup", "oauth-account", digest], environment: desktop.environment)
    #expect(kept.output.contains(#"\u007bTITLE\u007d"#))
    await desktop.stop()
  }

  @Test(arguments: ["", "null", "{}", "no JSON", #"{"id":"b","client_id":"c"}"#])
  func `an item that is not an account is not changed, and can be erased`(
    secret: String
  ) async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    try await store.save(record("b"))
    try await put(secret, attributes, in: desktop)
    await failure(.storeDamaged) { try await store.load("a") }
    #expect(try await store.list() == ["b"])
    await failure(.storeDamaged) { try await store.save(record("a")) }
    #expect(try await store.load("b") == record("b"))
    let kept = try await ChildProcess.run(
      ["secret-tool", "lookup", "oauth-account", digest], environment: desktop.environment)
    #expect(kept.output == secret)
    try await store.erase("a")
    #expect(try await store.list() == ["b"])
    await desktop.stop()
  }

  @Test func `a record under another account's digest is reported as damaged`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let json = String(decoding: try JSONEncoder().encode(record("b")), as: UTF8.self)
    try await put(json, attributes, in: desktop)
    await failure(.storeDamaged) { try await store(desktop).load("a") }
    await desktop.stop()
  }

  @Test(arguments: [
    ("new", ["oauth-format": "2"], "in format 2"),
    (#"{"id":"a","client_id":"c","sender_token":{}}"#, [:], "newer than this program"),
  ])
  func `an item of a newer format is rejected with its own error and not changed`(
    secret: String, format: [String: String], words: String
  ) async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    try await put(secret, attributes.merging(format) { $1 }, in: desktop)
    let store = store(desktop)
    for error in [
      await failure(.storeTooNew) { try await store.load("a") },
      await failure(.storeTooNew) { try await store.all() },
      await failure(.storeTooNew) { try await store.save(record("a")) },
    ] { #expect(error?.message.contains(words) == true) }
    let kept = try await ChildProcess.run(
      ["secret-tool", "lookup", "oauth-account", digest], environment: desktop.environment)
    #expect(kept.output == secret)
    await desktop.stop()
  }

  /// A user may change the default collection.
  @Test func `an account is not duplicated when the default collection changes`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    try await store.save(record("a"))
    _ = try await desktop.call(
      "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.SetAlias", "string:default",
      "objpath:/org/freedesktop/secrets/collection/session")
    let newer = record("a", token: SQToken(accessToken: "newer"))
    try await store.save(newer)
    #expect(try await store.all() == [newer])
    try await store.save(record("b"))
    #expect(try await store.list() == ["a", "b"])
    try await store.erase("a")
    #expect(try await store.list() == ["b"])
    await desktop.stop()
  }
}
