import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// Calls that get only a resource's address from the user.
@Suite(.timeLimit(.minutes(2))) struct `A call without an account` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private var storeOption: [String] { ["--store", "file:" + store.path] }

  private func sandbox(
    _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> SandboxServer {
    var options = SandboxOptions()
    change(&options)
    return try await SandboxServer.start(options)
  }

  private func run(_ words: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + storeOption, in: folder)
  }

  private func call(_ url: URL, _ more: String...) async throws -> DemoProcess.Outcome {
    try await run(["call", url.absoluteString] + more)
  }

  @Test func `the first call to a resource registers and signs in, and the second needs neither`()
    async throws
  {
    let sandbox = try await sandbox()
    let resource = sandbox.issuer.absoluteString
    let first = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.hasPrefix(#"{"user_name":"alice","#) && first.output.contains("client-"))
    #expect(
      first.errors.hasPrefix("\(sandbox.url(.me)) needs a token.\nSigning in at \(resource).\n"))
    #expect(
      first.errors.hasSuffix("The account is kept in the file \(store.path), as \(resource).\n"))
    let question = try #require(sandbox.requests(to: .authorization).first)
    #expect(question.query("resource") == resource)
    #expect(question.query("scope") == "profile demo files offline_access")
    #expect(sandbox.requests(to: .me).first?.bearerToken == nil)

    sandbox.forgetRequests()
    // The second call is to another address of the same resource.
    let second = try await call(sandbox.url(.files))
    #expect(second.status == 0 && second.errors.isEmpty, "\(second.errors)")
    #expect(sandbox.requests.map(\.endpoint) == [.files])
    await sandbox.stop()
  }

  @Test func `a call that waits for the sign-in of another program says so`() async throws {
    let sandbox = try await sandbox()
    let words = ["call", sandbox.url(.me).absoluteString, "--browser", "print"] + storeOption
    let first = try DemoProcess(words, in: folder)
    try await eventually("the first call waits for its user") {
      first.errors.contains("Waiting for you")
    }
    let second = try DemoProcess(words, in: try TemporaryFolder())
    try await eventually("the second call says why it waits") {
      second.errors.contains(#/Another program, .*\d+.*, uses this account/#)
    }
    #expect(!first.errors.contains("Another program"), "\(first.errors)")
    #expect(second.output.isEmpty, "\(second.errors)")
    _ = await second.outcome(sending: SIGINT)
    _ = await first.outcome(sending: SIGINT)
    await sandbox.stop()
  }

  @Test func `a call with a new account name stores a second account for the resource`()
    async throws
  {
    let sandbox = try await sandbox()
    let me = sandbox.url(.me)
    let alice = try await call(me, "--account", "alice", "--browser", "sandbox")
    #expect(alice.status == 0 && alice.output.contains("alice"), "\(alice.errors)")
    #expect(alice.errors.hasSuffix("The account is kept in the file \(store.path), as alice.\n"))
    // The account is the only one, so the call needs no account name.
    let again = try await call(me)
    #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")

    let second = try await call(me, "--account", "second", "--browser", "sandbox")
    #expect(second.status == 0, "\(second.errors)")
    #expect(try await store.list().sorted() == ["alice", "second"])
    let open = try await call(me)
    #expect(open.status == 2 && open.errors.contains("error: account_needed: "), "\(open.errors)")
    #expect(open.errors.contains("--account alice") && open.errors.contains("--account second"))
    let plan = try await run(["discover", me.absoluteString])
    #expect(plan.output.contains("--account: alice, second."), "\(plan.output)")
    sandbox.forgetRequests()
    let named = try await call(me, "--account", "second")
    #expect(named.status == 0 && named.errors.isEmpty, "\(named.errors)")
    #expect(sandbox.requests.map(\.endpoint) == [.me])

    // With an unknown account name and no browser, a call signs in no user and sends no request as
    // another user.
    sandbox.forgetRequests()
    let typo = try await call(me, "--account", "alcie")
    #expect(typo.status == 1 && typo.errors.contains("error: sign_in_needed: "), "\(typo.errors)")
    #expect(typo.errors.contains("there is no account \"alcie\" yet"))
    #expect(sandbox.requests(to: .me).isEmpty)
    await sandbox.stop()
  }

  @Test func `accounts, token, whoami and logout accept the account that a call stored`()
    async throws
  {
    let sandbox = try await sandbox()
    let resource = sandbox.issuer.absoluteString
    #expect(try await call(sandbox.url(.me), "--browser", "sandbox").status == 0)
    let accounts = try await run(["accounts"])
    #expect(accounts.output.hasPrefix("\(resource)\n"), "\(accounts.output)")
    #expect(accounts.output.contains(/resource +http:\/\/127/))
    let json = try JSONDecoder().decode(
      JSONValue.self, from: Data(try await run(["accounts", "--json"]).output.utf8))
    #expect(json["accounts"][0]["resource"] == .string(resource))
    let token = try await run(["token", "--account", resource])
    #expect(token.status == 0 && token.output.hasPrefix("access-"), "\(token.errors)")
    let who = try await run(["whoami", "--account", resource])
    #expect(who.status == 1 && who.errors.contains("error: no_identity"), "\(who.errors)")
    let out = try await run(["logout", "--account", resource])
    #expect(out.status == 0 && out.output.contains(resource))
    #expect(try await run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test func `a refresh of the account's token sends the resource parameter`() async throws {
    let sandbox = try await sandbox()
    let resource = sandbox.issuer.absoluteString
    #expect(try await call(sandbox.url(.me), "--browser", "sandbox").status == 0)
    for words in [["token", "--account", resource], ["call", sandbox.url(.me).absoluteString]] {
      try await store.expire(resource)
      sandbox.forgetRequests()
      let outcome = try await run(words)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let request = try #require(sandbox.requests(to: .token).first)
      #expect(request.form("grant_type") == "refresh_token")
      #expect(request.form("resource") == resource, "\(words)")
    }
    await sandbox.stop()
  }

  @Test func `a call with neither a browser nor a terminal fails and says how to sign in`()
    async throws
  {
    let sandbox = try await sandbox()
    let outcome = try await call(sandbox.url(.me))
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(
      outcome.firstError
        == "error: sign_in_needed: \(sandbox.url(.me)) demands a sign-in, and there is neither a "
        + "browser nor a terminal")
    #expect(outcome.errors.contains("in a terminal, or with --device or --browser print."))
    #expect(outcome.errors.components(separatedBy: "\n").dropFirst().allSatisfy { $0.count <= 80 })
    #expect(sandbox.requests(to: .registration).isEmpty && !folder.exists("tokens"))
    await sandbox.stop()
  }

  @Test func `a call signs in again if the server demands a scope that the token lacks`()
    async throws
  {
    let sandbox = try await sandbox { $0.resources.scopes = ["profile"] }
    let first = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(first.status == 0, "\(first.errors)")
    let alone = try await call(sandbox.url(.files))
    #expect(alone.status == 1 && alone.firstError.contains("does not accept the account as it is"))
    let more = try await call(sandbox.url(.files), "--browser", "sandbox")
    #expect(more.status == 0, "\(more.errors)")
    #expect(
      more.errors.hasPrefix("The server does not accept the account as it is; sign in again.\n"))
    let scopes = sandbox.requests(to: .authorization).map { $0.query("scope") }
    #expect(scopes.count == 2 && scopes.last??.contains("demo") == true, "\(scopes)")
    #expect(scopes.last??.contains("profile") == true)
    #expect(sandbox.requests(to: .registration).count == 1)
    let script = try await call(sandbox.url(.files))
    #expect(script.status == 0 && script.errors.isEmpty, "the account has the scopes now")
    await sandbox.stop()
  }

  @Test func `a call signs in again with the acr_values that the server's challenge demands`()
    async throws
  {
    let careful = "urn:sandbox:careful"
    let sandbox = try await sandbox {
      $0.resources.stepUps = [.login(acrValues: [careful], at: SandboxEndpoint.me.path)]
    }
    let outcome = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(sandbox.requests(to: .authorization).map { $0.query("acr_values") } == [nil, careful])
    await sandbox.stop()
  }

  @Test func `a call fails after three sign-ins if the server keeps demanding a step-up`()
    async throws
  {
    let sandbox = try await sandbox()
    #expect(try await call(sandbox.url(.me), "--browser", "sandbox").status == 0)
    sandbox.misbehave(at: .me, .endlessStepUp, times: nil)
    sandbox.forgetRequests()
    let outcome = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("\nerror: insufficient_user_authentication"))
    #expect(!outcome.errors.contains("--scope"), "\(outcome.errors)")
    #expect(sandbox.requests(to: .authorization).count == 3)
    await sandbox.stop()
  }

  @Test func `eight processes with an expired token refresh it once`() async throws {
    let sandbox = try await sandbox()
    let resource = sandbox.issuer.absoluteString
    #expect(try await call(sandbox.url(.me), "--browser", "sandbox").status == 0)
    try await store.expire(resource)
    sandbox.forgetRequests()
    let outputs = try (0..<8).map { _ in try TemporaryFolder() }
    let outcomes = try await withThrowingTaskGroup(of: DemoProcess.Outcome.self) { group in
      for output in outputs {
        let words = ["call", sandbox.url(.me).absoluteString] + storeOption
        let demo = try DemoProcess(words, in: output, home: folder)
        group.addTask { await demo.outcome() }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for outcome in outcomes {
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.output.hasPrefix(#"{"user_name":"alice","#))
    }
    #expect(sandbox.requests(to: .token).count == 1)
    #expect(Set(sandbox.requests(to: .me).map(\.bearerToken)).count == 1)
    #expect(sandbox.refreshTokenReuses == 0)
    await sandbox.stop()
  }

  @Test func `a call uses a stored account only if it fits the URL or if --account names it`()
    async throws
  {
    let sandbox = try await sandbox()
    try await store.keepExpiredAccount(at: sandbox)
    #expect(try await call(sandbox.url(.me)).status == 0)
    #expect(sandbox.requests(to: .registration).isEmpty, "the account of login is used")
    let other = try await self.sandbox()
    let outcome = try await call(other.url(.me), "--browser", "sandbox")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let kept = try #require(try await store.load("default")?.token.accessToken)
    #expect(!other.requests.contains { $0.bearerToken == kept }, "the token is not sent elsewhere")
    #expect(try await store.list().count == 2)
    let named = try await call(other.url(.me), "--account", "default")
    #expect(named.status == 1, "the call uses the named account")
    #expect(other.requests(to: .me).contains { $0.bearerToken == kept })
    await sandbox.stop()
    await other.stop()
  }

  @Test func `a call to a new resource uses the client of a stored account at the same server`()
    async throws
  {
    let server = try await sandbox()
    let issuer = server.issuer.absoluteString
    let login = [
      "login", "--issuer", issuer, "--client-id", SandboxClient.app.id, "--browser", "sandbox",
    ]
    #expect(try await run(login).status == 0)
    let resource = try await sandbox {
      $0.resources.authorizationServers = [issuer]
    }
    // The call fails, because the resource accepts only tokens of its own sandbox. But the sign-in
    // at `server` shows which client the call uses.
    let outcome = try await call(resource.url(.me), "--browser", "sandbox")
    #expect(outcome.status == 1)
    #expect(server.requests(to: .registration).isEmpty)
    let asked = server.requests(to: .authorization).last
    #expect(asked?.query("client_id") == SandboxClient.app.id)
    #expect(asked?.query("resource") == resource.issuer.absoluteString)
    await server.stop()
    await resource.stop()
  }

  @Test func `a server without resource metadata gets a token only if --account names the account`()
    async throws
  {
    let sandbox = try await sandbox { $0.resources.describesItself = false }
    let missing = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(missing.status == 1 && missing.firstError.hasPrefix("error: no_account"))
    #expect(sandbox.requests(to: .registration).isEmpty)
    let token = sandbox.issueTokens().accessToken
    try await store.save(
      AccountRecord(
        id: "default", clientID: "app", issuer: "https://id.example.com",
        token: SQToken(accessToken: token)))
    let open = try await call(sandbox.url(.me))
    #expect(open.status == 2 && open.firstError.hasPrefix("error: account_needed: "))
    #expect(open.errors.contains("  --account default\n"), "\(open.errors)")
    #expect(sandbox.requests.allSatisfy { $0.bearerToken == nil })
    let outcome = try await call(sandbox.url(.me), "--account", "default")
    #expect(outcome.status == 0, "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test(
    arguments: SandboxResourceFault.allCases.filter { ![.notFound, .unavailable].contains($0) })
  func `invalid or redirected resource metadata ends the call before a sign-in`(
    fault: SandboxResourceFault
  ) async throws {
    let sandbox = try await sandbox()
    sandbox.misbehave(at: .resourceMetadata, .resourceMetadata(fault), times: nil)
    let outcome = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    let code = fault == .redirect ? "error: " : "error: resource_metadata_invalid: "
    #expect(outcome.firstError.hasPrefix(code), "\(outcome.errors)")
    #expect(sandbox.requests(to: .registration).isEmpty)
    #expect(sandbox.requests(to: .authorization).isEmpty)
    await sandbox.stop()
  }

  @Test func `after the session's end, login and call sign the account in again`() async throws {
    let sandbox = try await sandbox()
    let resource = sandbox.issuer.absoluteString
    #expect(try await call(sandbox.url(.me), "--browser", "sandbox").status == 0)
    sandbox.revokeEverything()
    try await store.expire(resource)
    let ended = try await run(["token", "--account", resource])
    #expect(ended.status == 1)
    #expect(
      ended.errors.contains("'sq-demo login --account \(resource) --store"), "\(ended.errors)")
    let login = try await run(["login", "--account", resource, "--browser", "sandbox"])
    #expect(login.status == 0, "\(login.errors)")
    #expect(sandbox.requests(to: .authorization).last?.query("resource") == resource)
    sandbox.revokeEverything()
    let again = try await call(sandbox.url(.me), "--browser", "sandbox")
    #expect(again.status == 0, "\(again.errors)")
    #expect(sandbox.requests(to: .registration).count == 1)
    await sandbox.stop()
  }
}
