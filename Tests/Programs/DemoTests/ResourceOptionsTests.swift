import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

/// `sq-demo call` finds the authorization server from the resource's URL.
///
/// The command obeys a sign-in option or refuses it, but never ignores it.
@Suite(.timeLimit(.minutes(1))) struct `A call with options of a provider` {
  private let folder: TemporaryFolder
  private let storeOption: [String]

  init() throws {
    folder = try TemporaryFolder()
    storeOption = ["--store", "file:" + folder.file("tokens")]
  }

  private func call(
    _ sandbox: SandboxServer, _ options: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      ["call", sandbox.url(.me).absoluteString, "--browser", "sandbox"] + options + storeOption,
      in: folder, environment: environment)
  }

  @Test(arguments: [
    ["--par"], ["--profile", "fapi2"], ["--redirect-uri", "http://127.0.0.1:7777/callback"],
    ["--auth", "post"], ["--trust-audience", "other"], ["--without-pkce"],
  ])
  func `without a stored account, a call rejects options that need a provider`(options: [String])
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let outcome = try await call(sandbox, options)
    #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome.errors)")
    #expect(
      outcome.firstError.hasPrefix("error: usage: \(options[0]) needs a provider: "),
      "\(outcome.errors)")
    #expect(sandbox.requests(to: .registration).isEmpty)
    #expect(sandbox.requests(to: .authorization).isEmpty && !folder.exists("tokens"))
    await sandbox.stop()
  }

  @Test func `a call with --par pushes the authorization request of a stored account's client`()
    async throws
  {
    let server = try await SandboxServer.start()
    let issuer = server.issuer.absoluteString
    let login = ["login", "--issuer", issuer, "--client-id", SandboxClient.app.id]
    let signedIn = try await DemoProcess.run(
      login + ["--browser", "sandbox"] + storeOption, in: folder)
    #expect(signedIn.status == 0, "\(signedIn.errors)")
    var options = SandboxOptions()
    options.resources.authorizationServers = [issuer]
    let resource = try await SandboxServer.start(options)
    // The call fails, because the resource accepts only tokens of its own sandbox.
    #expect(try await call(resource, ["--par"]).status == 1)
    #expect(server.requests(to: .pushedAuthorization).count == 1)
    await server.stop()
    await resource.stop()
  }

  @Test func `a call sends a given client secret to no server that the resource names`()
    async throws
  {
    let server = try await SandboxServer.start()
    let issuer = server.issuer.absoluteString
    let login = ["login", "--issuer", issuer, "--client-id", SandboxClient.app.id]
    let signedIn = try await DemoProcess.run(
      login + ["--browser", "sandbox"] + storeOption, in: folder)
    #expect(signedIn.status == 0, "\(signedIn.errors)")
    server.forgetRequests()
    var options = SandboxOptions()
    options.resources.authorizationServers = [issuer]
    let resource = try await SandboxServer.start(options)
    try folder.write("hunter2", to: "secret")
    let refused = try await call(resource, ["--client-secret-file", folder.file("secret")])
    #expect(refused.status == 2 && refused.output.isEmpty, "\(refused.errors)")
    #expect(refused.errors.contains("error: usage: --client-secret-file needs a provider: "))
    #expect(server.requests(to: .token).isEmpty)
    // The call fails, because the resource accepts only tokens of its own sandbox.
    #expect(try await call(resource, [], ["SQ_CLIENT_SECRET": "hunter2"]).status == 1)
    let requests = server.requests(to: .token)
    #expect(!requests.isEmpty)
    for request in requests {
      #expect(request.header("authorization") == nil && request.form("client_secret") == nil)
    }
    await server.stop()
    await resource.stop()
  }

  @Test(arguments: [
    ["--par"], ["--auth", "post"], ["--redirect-uri", "http://127.0.0.1:7777/callback"],
  ])
  func `a call with the account of an earlier call rejects options that need a provider`(
    options: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await call(sandbox, []).status == 0)
    sandbox.forgetRequests()
    let outcome = try await call(sandbox, options)
    #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: usage: \(options[0]) needs a provider: "))
    #expect(sandbox.requests.isEmpty)
    await sandbox.stop()
  }

  @Test
  func `a call that uses the client of a login obeys --par, and rejects --profile and --auth key`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = [
      "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id,
      "--browser", "sandbox",
    ]
    #expect(try await DemoProcess.run(login + storeOption, in: folder).status == 0)
    sandbox.forgetRequests()
    for options in [["--profile", "fapi2"], ["--auth", "key"]] {
      let refused = try await call(sandbox, ["--account", "z"] + options)
      #expect(refused.status == 2 && refused.output.isEmpty, "\(refused.errors)")
    }
    #expect(sandbox.requests(to: .authorization).isEmpty)
    #expect(sandbox.requests(to: .registration).isEmpty)
    let pushed = try await call(sandbox, ["--account", "z", "--par"])
    #expect(pushed.status == 0, "\(pushed.errors)")
    #expect(sandbox.requests(to: .pushedAuthorization).count == 1)
    #expect(try await call(sandbox, ["--account", "z", "--par"]).status == 0)
    let auth = try await call(sandbox, ["--account", "z", "--auth", "key"])
    #expect(auth.status == 2 && auth.output.isEmpty, "\(auth.errors)")
    await sandbox.stop()
  }

  @Test(arguments: [["--dpop"], ["--profile", "fapi2"]], [[], ["--account", "alice"]])
  func `a call that demands DPoP-bound tokens refuses an account with bearer tokens`(
    options: [String], account: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await call(sandbox, account).status == 0)
    sandbox.forgetRequests()
    let outcome = try await call(sandbox, account + options)
    #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: token_not_bound: "), "\(outcome.errors)")
    #expect(sandbox.requests.isEmpty)
    await sandbox.stop()
  }

  @Test func `with --resource, a call sends a token only to the servers that the option lists`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let other = ["--resource", "https://api.example.com"]
    let new = try await call(sandbox, other)
    #expect(new.status == 1 && new.firstError.hasPrefix("error: origin_not_allowed: "))
    #expect(sandbox.requests(to: .registration).isEmpty)
    let listed = try await call(sandbox, other + ["--resource", sandbox.issuer.absoluteString])
    #expect(listed.status == 0, "\(listed.errors)")
    sandbox.forgetRequests()
    let kept = try await call(sandbox, other)
    #expect(kept.status == 1 && kept.firstError.hasPrefix("error: origin_not_allowed: "))
    #expect(sandbox.requests.isEmpty)
    await sandbox.stop()
  }
}
