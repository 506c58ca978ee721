import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

/// Accounts with the URL of a resource as their name, whether or not they are for that resource.
@Suite(.timeLimit(.minutes(1))) struct `An account with the name of a resource` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private func run(_ words: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + ["--store", "file:" + store.path], in: folder)
  }

  private func call(_ sandbox: SandboxServer, _ more: [String] = []) async throws
    -> DemoProcess.Outcome
  {
    try await run(
      ["call", sandbox.url(.me).absoluteString, "--browser", "sandbox"] + more)
  }

  private func sandbox(describesItself: Bool) async throws -> SandboxServer {
    var options = SandboxOptions()
    options.resources.describesItself = describesItself
    return try await SandboxServer.start(options)
  }

  private func expectRefusal(
    of outcome: DemoProcess.Outcome, at other: SandboxServer, saying owner: String
  ) throws {
    let name = other.issuer.absoluteString
    #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome.errors)")
    let resource = other.url(.me).absoluteString
    #expect(
      outcome.firstError
        == "error: duplicate_name: the account \"\(name)\" \(owner); its token may not go to "
        + "\(resource), and no sign-in at \(resource) may replace it")
    #expect(outcome.errors.contains("Choose another --account for"))
    #expect(other.requests.isEmpty)
  }

  @Test(arguments: [false, true])
  func `an account named after a resource's URL is neither used nor replaced for that resource`(
    describesItself: Bool
  ) async throws {
    let server = try await SandboxServer.start()
    let other = try await sandbox(describesItself: describesItself)
    let name = other.issuer.absoluteString
    let login = try await run([
      "login", "--account", name, "--issuer", server.issuer.absoluteString, "--browser", "sandbox",
    ])
    #expect(login.status == 0, "\(login.errors)")
    let owner = "was signed in with 'sq-demo login' at \(server.issuer.absoluteString)"
    let before = try await store.load(name)
    try expectRefusal(of: try await call(other), at: other, saying: owner)
    let search = try await run(["discover", other.url(.me).absoluteString])
    try expectRefusal(of: search, at: other, saying: owner)
    #expect(try await store.load(name) == before && before?.issuer == server.issuer.absoluteString)
    // The account keeps its name after the sign-out, so a call to the resource with this name is
    // still refused.
    try await store.erase(name)
    try expectRefusal(of: try await call(other), at: other, saying: owner)
    let named = try await call(other, ["--account", "another"])
    #expect(named.status == (describesItself ? 0 : 1), "\(named.errors)")
    await server.stop()
    await other.stop()
  }

  @Test func `an account of another resource is neither used nor replaced`() async throws {
    let server = try await SandboxServer.start()
    let other = try await SandboxServer.start()
    let name = other.issuer.absoluteString
    #expect(try await call(server, ["--account", name]).status == 0)
    let before = try await store.load(name)
    let owner = "belongs to the resource \(server.issuer.absoluteString)"
    try expectRefusal(of: try await call(other), at: other, saying: owner)
    #expect(try await store.load(name) == before)
    await server.stop()
    await other.stop()
  }

  @Test func `a new account may be named after the resource or after a URL within the resource`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    for name in [sandbox.issuer.absoluteString, sandbox.url(.me).absoluteString] {
      let first = try await call(sandbox, ["--account", name])
      #expect(first.status == 0 && first.errors.hasSuffix("as \(name).\n"), "\(first.errors)")
      sandbox.forgetRequests()
      let second = try await call(sandbox, ["--account", name])
      #expect(second.status == 0 && sandbox.requests.map(\.endpoint) == [.me], "\(second.errors)")
    }
    await sandbox.stop()
  }

  @Test func `an account of a resource still belongs to the resource after a login with --issuer`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let name = sandbox.issuer.absoluteString
    #expect(try await call(sandbox).status == 0)
    let login = try await run([
      "login", "--account", name, "--issuer", name, "--scope", "profile demo", "--browser",
      "sandbox",
    ])
    #expect(login.status == 0, "\(login.errors)")
    #expect(sandbox.requests(to: .authorization).last?.query("resource") == name)
    #expect(try await store.load(name)?.attributes["resource"] == name)
    let again = try await call(sandbox)
    #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
    await sandbox.stop()
  }
}
