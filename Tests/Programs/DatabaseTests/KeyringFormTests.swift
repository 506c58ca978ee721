import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// Keyring items that earlier programs have left.
@Suite(.requires(.keyring), .timeLimit(.minutes(1))) struct KeyringFormTests {
  private struct Item: Decodable {
    let label: String
    let attributes: [String: String]
    let secret: String
  }

  /// Runs `body` with a desktop's keyring that has an item of one format.
  private func withItem(
    _ form: String, _ body: (SecretServiceTokenStore, PrivateDesktop, Item) async throws -> Void
  ) async throws {
    let item = try JSONDecoder().decode(
      Item.self, from: Data(StoredForms.text("\(form).json").utf8))
    let desktop = try await PrivateDesktop(keyring: true)
    let folder = try TemporaryFolder()
    try await stopping({ await desktop.stop() }) {
      let result = try await ChildProcess.run(
        ["secret-tool", "store", "--label=\(item.label)"]
          + item.attributes.flatMap { [$0.key, $0.value] },
        environment: desktop.environment, input: .text(item.secret))
      try #require(result.status == 0, "\(result.errors)")
      let store = SecretServiceTokenStore(
        service: "app", folder: folder.path, bus: desktop.address)
      try await body(store, desktop, item)
    }
  }

  @Test(arguments: ["keyring-1b", "keyring-1c"])
  func `a keyring item that an earlier program stored is loaded and then replaced`(form: String)
    async throws
  {
    try await withItem(form) { store, desktop, item in
      let record = try #require(try await store.load("alice"))
      #expect(record.token == StoredForms.bracedRecord.token)
      #expect(record.clientID == "client" && record.issuer == "https://id.example")
      try await store.save(record)
      #expect(try await store.all() == [record])
      let found = try await ChildProcess.run(
        ["secret-tool", "search", "--all", "oauth-service", "app"],
        environment: desktop.environment)
      // The save replaced the item and added no second item.
      #expect(found.output.ranges(of: "secret = ").count == 1)
      #expect(found.output.contains(#"\u007brefresh\u007d"#))
    }
  }

  /// The item of the first format has the attribute `service`.
  ///
  /// A keyring would replace such an item with any program's item that has only this attribute.
  @Test func `an item with attributes that other programs use is not changed`() async throws {
    try await withItem("keyring-1a") { store, desktop, item in
      #expect(try await store.load("alice") == nil)
      #expect(try await store.all() == [])
      try await store.save(StoredForms.bracedRecord)
      try await store.erase("alice")
      let kept = try await ChildProcess.run(
        ["secret-tool", "lookup", "service", "app"], environment: desktop.environment)
      #expect(kept.output == item.secret)
    }
  }
}
