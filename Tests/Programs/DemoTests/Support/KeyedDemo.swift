import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// The program with an encrypted store and with a client's key that the test's sandboxes know.
struct KeyedDemo: Sendable {
  static let clientID = "key-app"

  let folder: TemporaryFolder
  let key: ClientKey

  /// Creates a key, and its file in an empty folder.
  init() throws {
    folder = try TemporaryFolder()
    key = try ClientKey()
    try folder.write(key.pem(), to: "key.pem")
  }

  var keyPath: String { folder.file("key.pem") }
  var keyOption: [String] { ["--key", keyPath] }
  var store: [String] { ["--store", "encrypted:" + folder.file("tokens")] }
  var tokens: EncryptedFileTokenStore {
    EncryptedFileTokenStore(path: folder.file("tokens"), key: .file(folder.file("tokens.key")))
  }

  /// Starts a sandbox that also has the client with the key.
  func sandbox(
    _ profile: SandboxSecurityProfile? = nil, _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> SandboxServer {
    var options = profile.map { SandboxOptions($0) } ?? SandboxOptions()
    let jwk = try SandboxJSON(try #require(key.publicJWK))
    var client = SandboxClient(id: Self.clientID, key: jwk)
    client.idTokenAlgorithm = profile == nil ? .rs256 : .es256
    options.clients.append(client)
    change(&options)
    return try await SandboxServer.start(options)
  }

  /// Runs a command with the store.
  func run(
    _ words: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + store, in: folder, environment: environment)
  }

  /// Signs the sandbox's user in.
  func login(
    _ sandbox: SandboxServer, _ more: [String], client: String = clientID,
    _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await run(
      [
        "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
        "--client-id", client, "--scope", "openid profile demo files",
      ] + more, environment)
  }

  /// Makes the account's access token expire, and keeps the key to which it is bound.
  func expireToken() async throws {
    let record = try #require(try await tokens.load("default"))
    var json = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any])
    for name in ["token", "bound_token"] {
      guard var token = json[name] as? [String: Any] else { continue }
      token["expiration_date"] = 1
      json[name] = token
    }
    let data = try JSONSerialization.data(withJSONObject: json)
    try await tokens.save(JSONDecoder().decode(AccountRecord.self, from: data))
  }
}
