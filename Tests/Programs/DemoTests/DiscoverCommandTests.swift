import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The discover command` {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = "file:" + folder.file("tokens")
  }

  private func discover(
    _ sandbox: SandboxServer, _ more: String...
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      ["discover", sandbox.url(.me).absoluteString, "--store", store] + more, in: folder)
  }

  private func json(_ outcome: DemoProcess.Outcome) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
  }

  @Test func `the discover command says what a call would do, and sends only GET requests`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let origin = sandbox.issuer.absoluteString
    let outcome = try await discover(sandbox)
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for words in [
      "GET \(origin)/api/me 401, a challenge that names", "oauth-protected-resource 200,",
      "id \(origin)", "scopes profile demo files",
      "\(origin) used: the resource names no other",
      "programs register themselves: yes; codes for other devices: yes",
      "It is not known there yet; a call registers it at \(origin)/register",
      "scope profile demo files offline_access", "None is kept, so a call needs a sign-in.",
    ] {
      #expect(text.contains(words), "\(words) in: \(outcome.output)")
    }
    #expect(sandbox.requests.allSatisfy { $0.method == "GET" && $0.bearerToken == nil })
    #expect(!folder.exists("tokens"))
    await sandbox.stop()
  }

  @Test func `the discover command shows the registration and the account of an earlier call`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let new = try json(try await discover(sandbox, "--json"))
    #expect(new["client"]["way"] == "registration" && new["client"]["exists"] == false)
    #expect(new["account"] == .null || new["account"].string == nil)
    let call = try await DemoProcess.run(
      ["call", sandbox.url(.me).absoluteString, "--browser", "sandbox", "--store", store],
      in: folder)
    #expect(call.status == 0, "\(call.errors)")
    let known = try json(try await discover(sandbox, "--json"))
    let client = try #require(sandbox.clients.last?.id)
    #expect(known["client"]["client_id"] == .string(client) && known["client"]["exists"] == true)
    #expect(known["account"] == .string(sandbox.issuer.absoluteString))
    #expect(known["steps"][0]["status"] == 401 && known["steps"][1]["status"] == 200)
    #expect(known["servers"][0]["is_used"] == true)
    #expect(known["servers"][0]["token_endpoint"] == .string("\(sandbox.tokenEndpoint)"))
    await sandbox.stop()
  }

  @Test(arguments: [true, false])
  func `the discover command shows the account that login stored and a call would use`(
    describesItself: Bool
  ) async throws {
    var options = SandboxOptions()
    options.resources.describesItself = describesItself
    let sandbox = try await SandboxServer.start(options)
    let login = try await DemoProcess.run(
      [
        "login", "--issuer", sandbox.issuer.absoluteString, "--browser", "sandbox", "--store",
        store,
      ], in: folder)
    #expect(login.status == 0, "\(login.errors)")
    let outcome = try await discover(sandbox)
    let text = (outcome.output + outcome.errors).split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    #expect(text.contains("default, from 'sq-demo login', fits the address, so a call uses it"))
    #expect(!text.contains("None is kept"))
    let found = try json(try await discover(sandbox, "--json"))
    #expect(found["account"] == "default" && found["accounts"] == ["default"])
    let call = try await DemoProcess.run(
      ["call", sandbox.url(.me).absoluteString, "--store", store], in: folder)
    #expect(call.status == 0, "\(call.errors)")
    await sandbox.stop()
  }

  @Test(arguments: [[], ["--dpop"]])
  func `the discover command says whether the client of a login binds its tokens`(
    options: [String]
  ) async throws {
    var settings = SandboxOptions()
    settings.dpop = SandboxDPoPOptions(.accepted)
    let sandbox = try await SandboxServer.start(settings)
    let login = try await DemoProcess.run(
      [
        "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id,
        "--browser", "sandbox", "--store", store,
      ] + options, in: folder)
    #expect(login.status == 0, "\(login.errors)")
    let isBound = !options.isEmpty
    let outcome = try await discover(sandbox)
    #expect(outcome.output.contains("bound to a key (DPoP)") == isBound)
    #expect(outcome.output.contains("not bound to a key") != isBound)
    let found = try json(try await discover(sandbox, "--json"))
    #expect(found["client"]["way"] == "by_hand")
    #expect(found["binding"].string == (isBound ? "dpop" : nil))
    await sandbox.stop()
  }

  @Test func `the discover command says why an authorization server is not used`() async throws {
    let useless = try await SandboxServer.start()
    useless.misbehave(at: .metadata, .member("registration_endpoint", nil), times: nil)
    let sandbox = try await SandboxServer.start()
    let issuers = [useless, sandbox].map { SandboxJSON.string($0.issuer.absoluteString) }
    sandbox.misbehave(
      at: .resourceMetadata, .member("authorization_servers", .array(issuers)), times: nil)
    let outcome = try await discover(sandbox)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains("\(useless.issuer) not used: the program is not a client"))
    #expect(text.contains("\(sandbox.issuer) used: the first that can be used"))
    sandbox.misbehave(at: .metadata, .member("registration_endpoint", nil), times: nil)
    let none = try await discover(sandbox)
    #expect(none.status == 1 && none.firstError.hasPrefix("error: client_unknown: "))
    await useless.stop()
    await sandbox.stop()
  }

  @Test func `the discover command shows a client ID metadata document if the server accepts one`()
    async throws
  {
    var options = SandboxOptions()
    options.clientDocuments = SandboxClientDocuments()
    let sandbox = try await SandboxServer.start(options)
    let address = "https://app.example.com/client.json"
    let found = try json(try await discover(sandbox, "--client-id", address, "--json"))
    #expect(found["client"]["way"] == "document")
    #expect(found["client"]["client_id"] == .string(address))
    let wrong = try await discover(sandbox, "--client-id", "app")
    #expect(wrong.status == 2 && wrong.firstError.contains("--client-id needs a provider"))
    await sandbox.stop()
  }

  @Test func `the discover command shows the requests of a failed discovery`() async throws {
    var options = SandboxOptions()
    options.resources.describesItself = false
    let sandbox = try await SandboxServer.start(options)
    let outcome = try await discover(sandbox)
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("error: resource_metadata_invalid: "))
    #expect(outcome.firstError == "  GET \(sandbox.url(.me).absoluteString)")
    #expect(outcome.errors.contains("oauth-protected-resource/api/me\n      404, no document\n"))
    let structured = try await discover(sandbox, "--json")
    let found = try json(structured)
    #expect(structured.status == 1 && found["resource"].string == nil)
    #expect(found["steps"].array?.count == 3 && found["servers"] == [])
    await sandbox.stop()
  }

  @Test
  func `the discover command reports the error code of a call, and says if no token is needed`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .metadata, .member("issuer", "https://other.example"), times: nil)
    let failed = try await discover(sandbox)
    let call = try await DemoProcess.run(
      ["call", sandbox.url(.me).absoluteString, "--browser", "sandbox", "--store", store],
      in: folder)
    #expect(failed.errors.contains("error: issuer_mismatch: "), "\(failed.errors)")
    #expect(call.errors.contains("error: issuer_mismatch: "), "\(call.errors)")
    sandbox.behave()
    sandbox.misbehave(at: .me, .status(204), times: nil)
    let open = try await discover(sandbox)
    #expect(open.output.contains("This request needed no token"), "\(open.output)")
    await sandbox.stop()
  }

  @Test(arguments: [
    ("http://example.com/", "insecure"), ("nonsense", "malformed"), ("ftp://x/", "malformed"),
  ])
  func `the discover command rejects an address that cannot be used`(
    address: String, word: String
  ) async throws {
    let outcome = try await DemoProcess.run(["discover", address], in: folder)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.firstError.contains(word), "\(outcome.errors)")
  }
}
