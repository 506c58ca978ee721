import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// The advice of calls that fail.
@Suite(.timeLimit(.minutes(1))) struct `A call that fails` {
  private let folder: TemporaryFolder
  private let storeOption: [String]

  init() throws {
    folder = try TemporaryFolder()
    storeOption = ["--store", "file:" + folder.file("tokens")]
  }

  private func run(
    _ words: [String], starter: [String] = []
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + storeOption, in: folder, starter: starter)
  }

  /// Returns the words of the command line in an error's advice.
  private func advice(_ outcome: DemoProcess.Outcome) throws -> [String] {
    let command = try #require(
      outcome.errors.firstMatch(of: #/'sq-demo (login [^']*)'/#), "\(outcome.errors)")
    return command.output.1.split(separator: " ").map(String.init)
  }

  @Test func `if the scope does not suffice, the error names a login command that can widen it`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let issuer = sandbox.issuer.absoluteString
    let login = ["login", "--issuer", issuer, "--scope", "profile", "--browser", "sandbox"]
    #expect(try await run(login).status == 0)
    let files = ["call", sandbox.url(.files).absoluteString]
    let refused = try await run(files)
    #expect(refused.errors.contains("error: insufficient_scope: "), "\(refused.errors)")
    let words = try advice(refused)
    #expect(words.suffix(2) == ["--issuer", issuer], "\(words)")
    let again = try await DemoProcess.run(
      words + ["--scope", "profile demo files", "--browser", "sandbox"], in: folder)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try await run(files).status == 0)
    await sandbox.stop()
  }

  @Test func `the login that whoami advises requests openid and the account's scopes`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = ["login", "--issuer", sandbox.issuer.absoluteString, "--browser", "sandbox"]
    #expect(try await run(login + ["--scope", "demo files"]).status == 0)
    let who = try await run(["whoami"])
    #expect(who.firstError.hasPrefix("error: no_identity: "), "\(who.errors)")
    let issuer = "--issuer \(sandbox.issuer.absoluteString)"
    #expect(who.errors.contains("\(issuer) --scope 'openid demo files'"), "\(who.errors)")
    await sandbox.stop()
  }

  @Test
  func `if the server lacks PKCE with S256, the error names a login command that can accept it`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(
      at: .metadata, .member("code_challenge_methods_supported", ["plain"]), times: nil)
    let call = ["call", sandbox.url(.me).absoluteString, "--browser", "sandbox"]
    let refused = try await run(call)
    #expect(refused.status == 1 && refused.errors.contains("error: pkce_unsupported: "))
    let words = try advice(refused)
    #expect(words.suffix(2) == ["--issuer", sandbox.issuer.absoluteString], "\(refused.errors)")
    let login = try await DemoProcess.run(
      words + ["--without-pkce", "--browser", "sandbox"], in: folder)
    #expect(login.status == 0, "\(login.errors)")
    let again = try await run(call)
    #expect(again.status == 0, "\(again.errors)")
    await sandbox.stop()
  }

  @Test func `the error for an account of a different resource suggests --account, not --resource`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let other = try await SandboxServer.start()
    let name = sandbox.issuer.absoluteString
    #expect(
      try await run(["call", sandbox.url(.me).absoluteString, "--browser", "sandbox"]).status == 0)
    let refused = try await run(["call", other.url(.me).absoluteString, "--account", name])
    #expect(refused.firstError.hasPrefix("error: origin_not_allowed: "), "\(refused.errors)")
    #expect(refused.errors.contains("Name another --account"), "\(refused.errors)")
    for word in ["--resource", "resourceOrigins", "insert(", "allowTokens"] {
      #expect(!refused.errors.contains(word), "\(refused.errors)")
    }
    #expect(other.requests(to: .me).allSatisfy { $0.bearerToken == nil })
    await sandbox.stop()
    await other.stop()
  }

  @Test(arguments: [
    (404, "/.well-known/oauth-protected-resource (status 404"), (403, "(status 403"),
  ])
  func `the error for missing resource metadata names the metadata URL and its status`(
    status: Int, words: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .resourceMetadata, .status(status), times: nil)
    let url = sandbox.url(.me).absoluteString
    for more in [[], ["--account", "new"]] {
      let outcome = try await run(["call", url + "?q=1", "--browser", "sandbox"] + more)
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(outcome.errors.contains("error: no_account: "), "\(outcome.errors)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.contains("'sq-demo discover \(url)'"), "\(outcome.errors)")
      #expect(!outcome.errors.contains("configure the client"))
    }
    await sandbox.stop()
  }

  @Test func `a body from a closed standard input is an error`() async throws {
    let sandbox = try await SandboxServer.start()
    let words = ["call", "POST", sandbox.url(.me).absoluteString, "--body", "-"]
    let closed = try await run(words, starter: ["sh", "-c", #"exec "$@" <&-"#, "sh"])
    #expect(closed.status == 2 && closed.output.isEmpty, "\(closed.errors)")
    #expect(closed.firstError.contains("--body - cannot be read: standard input is closed"))
    #expect(sandbox.requests.isEmpty)
    // An empty standard input is an empty body.
    #expect(try await !run(words).errors.contains("cannot be read"))
    #expect(!sandbox.requests.isEmpty)
    await sandbox.stop()
  }

  @Test(
    arguments: ["call", "discover"],
    [("127.0.0.1:8990/api", "http"), ("api.example.com/x", "https")])
  func `the error for an address without a scheme suggests the address with a scheme`(
    command: String, typed: (address: String, scheme: String)
  ) async throws {
    let (address, scheme) = typed
    let outcome = try await run([command, address])
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(
      outcome.errors.contains("\nDid you mean \(scheme)://\(address)?\n"), "\(outcome.errors)")
  }

  @Test func `the error for a path without a leading slash suggests the path with the slash`()
    async throws
  {
    let outcome = try await run(["call", "GET", "api/me"])
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nDid you mean /api/me?\n"), "\(outcome.errors)")
  }
}
