import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `A login without a client` {
  private let folder: TemporaryFolder
  private let sandbox: SandboxServer

  init() async throws {
    folder = try TemporaryFolder()
    sandbox = try await SandboxServer.start()
  }

  private func arguments(_ command: String, _ more: String...) -> [String] {
    [
      command, "--issuer", sandbox.issuer.absoluteString, "--store",
      "encrypted:" + folder.file("tokens"),
    ] + more
  }

  @Test
  func `a login without a client registers the program once, and later commands use that client`()
    async throws
  {
    let first = try await DemoProcess.run(
      arguments("login", "--browser", "sandbox", "--account", "a"), in: folder)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.errors.contains("Registered this program at \(sandbox.issuer) as client-"))
    let second = try await DemoProcess.run(
      arguments("login", "--browser", "sandbox", "--account", "b"), in: folder)
    #expect(second.status == 0, "\(second.errors)")
    #expect(!second.errors.contains("Registered"))
    #expect(sandbox.requests(to: .registration).count == 1)
    let registered = try #require(sandbox.requests(to: .registration).first)
    let text = String(decoding: registered.body, as: UTF8.self)
    #expect(text.contains("sq-demo") && text.contains("127.0.0.1"))
    #expect(!folder.read("tokens.registrations").contains("registration-"), "it is encrypted")
    let revoked = try await DemoProcess.run(
      ["revoke", "--account", "a", "--store", "encrypted:" + folder.file("tokens")], in: folder)
    #expect(revoked.status == 0, "\(revoked.errors)")
    let who = try await DemoProcess.run(arguments("whoami", "--account", "b"), in: folder)
    #expect(who.status == 0 && who.output.contains("Alice Liddell"), "\(who.errors)")
  }

  /// Many servers compare the port of a redirect with the registered ports.
  @Test func `a login without a client redirects to a registered port`() async throws {
    for account in ["a", "b"] {
      let login = try await DemoProcess.run(
        arguments("login", "--browser", "sandbox", "--account", account), in: folder)
      #expect(login.status == 0, "\(login.errors)")
      let registered = try #require(sandbox.clients.last?.redirectURIs)
      let used = sandbox.requests(to: .authorization).last?.query("redirect_uri")
      #expect(used.map(registered.contains) == true && used != "http://127.0.0.1/callback")
    }
    #expect(sandbox.requests(to: .registration).count == 1)
  }

  @Test
  func `if the server has forgotten the client, the error names a login that registers again`()
    async throws
  {
    let (store, login) = ("encrypted:" + folder.file("tokens"), ["--browser", "sandbox"])
    let first = try await DemoProcess.run(
      arguments("login", "--account", "a") + login, in: folder)
    #expect(first.status == 0, "\(first.errors)")
    let old = try #require(sandbox.clients.last?.id)
    sandbox.forgetClient(old)
    let token = try await DemoProcess.run(
      ["call", "--account", "a", "/api/me", "--store", store], in: folder)
    #expect(token.status == 1 && token.errors.contains("error: invalid_client: "))
    let command = "sq-demo login --account a --store \(store) --issuer \(sandbox.issuer)"
    #expect(token.errors.contains("'\(command)' registers it anew"), "\(token.errors)")
    let words = command.split(separator: " ").dropFirst().map(String.init)
    let second = try await DemoProcess.run(words + login, in: folder)
    #expect(second.status == 0 && sandbox.clients.last?.id != old, "\(second.errors)")
    let good = try await DemoProcess.run(
      ["call", "--account", "a", "/api/me", "--store", store], in: folder)
    #expect(good.status == 0 && good.output.contains("alice"), "\(good.errors)")
  }

  private static let methods: [(list: SandboxJSON?, auth: [String], method: String)] = [
    (nil, [], "client_secret_basic"), (["client_secret_post"], [], "client_secret_post"),
    (nil, ["--auth", "post"], "client_secret_post"),
  ]

  @Test(arguments: methods.indices)
  func `a login without a client uses the secret that the server issued if one is required`(
    index: Int
  ) async throws {
    let row = Self.methods[index]
    sandbox.misbehave(
      at: .metadata, .member("token_endpoint_auth_methods_supported", row.list), times: nil)
    let login = try await DemoProcess.run(
      arguments("login", "--browser", "sandbox") + row.auth, in: folder)
    #expect(login.status == 0, "\(login.errors)")
    let registered = try #require(sandbox.requests(to: .registration).first)
    #expect(String(decoding: registered.body, as: UTF8.self).contains(row.method))
    let token = try #require(sandbox.requests(to: .token).last)
    #expect((token.form("client_secret") == nil) == (row.method == "client_secret_basic"))
    let revoked = try await DemoProcess.run(
      ["revoke", "--store", "encrypted:" + folder.file("tokens")], in: folder)
    #expect(revoked.status == 0, "\(revoked.errors)")
  }

  @Test(arguments: ["sqlite:", "encrypted-sqlite:"])
  func `a login without a client stores the client in the database with the accounts`(kind: String)
    async throws
  {
    for account in ["a", "b"] {
      let outcome = try await DemoProcess.run(
        [
          "login", "--issuer", sandbox.issuer.absoluteString, "--browser", "sandbox", "--account",
          account, "--store", kind + folder.file("tokens"),
        ], in: folder, environment: ["SQ_STORE_PASSPHRASE": "correct horse battery staple"])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    #expect(sandbox.requests(to: .registration).count == 1)
    #expect(!folder.exists("tokens.registrations"))
  }

  @Test func `a login without a client says what to do if programs cannot register themselves`()
    async throws
  {
    sandbox.misbehave(at: .metadata, .member("registration_endpoint", nil), times: nil)
    let outcome = try await DemoProcess.run(arguments("login"), in: folder)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: registration_unsupported"))
    #expect(outcome.errors.contains("--client-id"))
    #expect(!folder.exists("tokens.registrations"))
  }

  @Test func `a login without a client needs no device code support unless the user asks for it`()
    async throws
  {
    let granted: SandboxJSON = ["authorization_code", "refresh_token"]
    for endpoint in [SandboxEndpoint.registration, .clientConfiguration] {
      sandbox.misbehave(at: endpoint, .member("grant_types", granted), times: nil)
    }
    let outcome = try await DemoProcess.run(arguments("login", "--browser", "sandbox"), in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let asked = try await DemoProcess.run(arguments("login", "--device"), in: folder)
    #expect(asked.status == 1 && asked.errors.contains("error: registration_mismatch"))
  }

  @Test
  func `a login without a client pushes its request if the registration response demands that`()
    async throws
  {
    sandbox.misbehave(
      at: .registration, .member("require_pushed_authorization_requests", true))
    let outcome = try await DemoProcess.run(arguments("login", "--browser", "sandbox"), in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(sandbox.requests(to: .pushedAuthorization).count == 1)
  }

  @Test(arguments: [["--dpop"], []])
  func `a login without a client registers for DPoP-bound tokens only with --dpop`(
    options: [String]
  ) async throws {
    _ = try await DemoProcess.run(
      arguments("login", "--browser", "sandbox") + options, in: folder)
    let registered = try #require(sandbox.requests(to: .registration).first)
    let text = String(decoding: registered.body, as: UTF8.self)
    #expect(text.contains("dpop_bound_access_tokens") == !options.isEmpty)
  }

  @Test func `a registration whose response has a wrong redirect URI fails and is not repeated`()
    async throws
  {
    sandbox.misbehave(
      at: .registration, .member("redirect_uris", ["http://127.0.0.1/other"]), times: nil)
    let outcome = try await DemoProcess.run(
      arguments("login", "--browser", "sandbox"), in: folder, environment: ["BROWSER": "true"])
    #expect(outcome.status == 1 && outcome.errors.contains("error: registration_mismatch"))
    #expect(sandbox.requests(to: .registration).count == 1)
  }

  @Test func `a login without a client registers for the device code grant if --device is given`()
    async throws
  {
    let outcome = try await DemoProcess.run(
      arguments("login", "--device", "--browser", "sandbox"), in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let registered = try #require(sandbox.requests(to: .registration).first)
    #expect(String(decoding: registered.body, as: UTF8.self).contains("device_code"))
  }
}
