import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// The programs of `Demo/Examples`, run as their header comments say.
///
/// The live tests run `MCP.swift` and `Web`.
@Suite(.timeLimit(.minutes(20))) struct ExampleTests {
  @Test func `the Delegates example reports a sign-in, a denial and a failure`() async throws {
    let example = try await Example("Delegates.swift")
    let first = try example.start(environment: ["BROWSER": "echo"])
    try await first.signIn(at: example.sandbox)
    try await expect(first, "Signed in, for: profile\n")

    let second = try example.start(environment: ["BROWSER": "echo"])
    try await second.signIn(at: example.sandbox, SandboxVisitor(decision: .deny))
    let refusal = try await second.result()
    #expect(refusal.status == 3 && refusal.output.hasPrefix("Not signed in: access_denied: "))

    let third = try await example.start().result()
    #expect(third.status == 1 && third.output.contains("browser_unavailable"), "\(third.output)")
    await example.sandbox.stop()
  }

  @Test func `the Async example opens no browser in its second run`() async throws {
    let example = try await Example("Async.swift")
    let first = try example.start(environment: ["BROWSER": "echo"])
    try await first.signIn(at: example.sandbox)
    let output = "Signed in, for: profile\nHello, Alice Liddell.\n"
    try await expect(first, output)
    try await expect(try example.start(), output)
    #expect(example.sandbox.requests(to: .authorization).count == 1)

    // A server's text cannot control the terminal.
    example.sandbox.misbehave(at: .me, .member("name", "A\u{1B}[2J\u{202E}\r\nB"))
    try await expect(try example.start(), "Signed in, for: profile\nHello, A[2JB.\n")

    let third = try await example.start(environment: ["API": "\(example.sandbox.issuer)/nothing"])
      .result()
    #expect(third.status == 1 && third.output.contains("\nFailed: "), "\(third.output)")
    await example.sandbox.stop()
  }

  @Test func `the Daemon example uses one token for all rounds and asks for a missing secret`()
    async throws
  {
    let example = try await Example("Daemon.swift")
    let result = try await example.start(environment: ["CLIENT_SECRET": "sandbox-secret"]).result()
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3, "\(result.output)")
    for (round, line) in lines.enumerated() {
      #expect(line.hasPrefix("Round \(round + 1): status 200, "), "\(line)")
    }
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(example.sandbox.requests(to: .token).count == 1)

    try await expect(
      try example.start(),
      "Put the client's secret into the environment variable CLIENT_SECRET.\n", status: 2)
    let wrong = try await example.start(environment: ["CLIENT_SECRET": "wrong"]).result()
    #expect(wrong.status == 1 && wrong.output.contains("invalid_client"), "\(wrong.output)")
    await example.sandbox.stop()
  }

  @Test func `the Service example registers itself once and exchanges its callers' tokens`()
    async throws
  {
    // No other server gets the port after the sandbox has stopped.
    let reservation = try BoundSocket()
    var options = SandboxOptions()
    options.port = reservation.port
    options.accessTokenFormat = .jwt(.rs256)
    let example = try await Example("Service.swift", options: options)
    let tokens = ["alice", "bob"].map {
      example.sandbox.issueTokens(for: $0, scopes: ["profile"]).accessToken
    }
    let foreign = example.sandbox.issueTokens(
      for: "alice", scopes: ["profile"], audiences: ["https://files.example.com"]
    ).accessToken
    let input = ([tokens[0], "made-up", foreign, tokens[1]]).joined(separator: "\n") + "\n"
    let end = "a token for https://invoices.example.com, where"
    for _ in 0..<2 {
      try await expect(
        try example.start(input: .text(input)),
        """
        alice: \(end) alice is the user
        Refused: the caller's token is not valid here, or has no user.
        Refused: the caller's token is not valid here, or has no user.
        bob: \(end) bob is the user

        """)
    }
    #expect(example.sandbox.requests(to: .registration).count == 1)
    #expect(example.sandbox.requests(to: .token).count == 4)
    for request in example.sandbox.requests(to: .token) {
      #expect(request.form("client_assertion") != nil && request.form("client_secret") == nil)
    }
    await example.sandbox.stop()
    let failed = try await example.start(input: .text(input)).result()
    #expect(failed.status == 1 && failed.output.hasPrefix("Failed: "), "\(failed.output)")
    withExtendedLifetime(reservation) {}
  }

  @Test func `each account of the Accounts example signs in once as its own user`() async throws {
    let example = try await Example("Accounts.swift")
    let first = try example.start("home", "work", environment: ["BROWSER": "echo"])
    try await first.signIn(at: example.sandbox)
    try await first.signIn(at: example.sandbox, SandboxVisitor(user: .bob), number: 2)
    let names = "home: Alice Liddell\nwork: Bob Cratchit\nAccounts: home, work\n"
    try await expect(first, names)
    try await expect(try example.start("home", "work"), names)
    example.sandbox.misbehave(at: .me, .member("name", "A\u{1B}[2J\u{202E}\r\nB"))
    try await expect(try example.start("home"), "home: A[2JB\nAccounts: home, work\n")
    try await expect(try example.start(), "Accounts: home, work\n")
    #expect(example.sandbox.requests(to: .authorization).count == 2)
    await example.sandbox.stop()
  }

  @Test func `the SignInTests example passes`() async throws {
    let example = try await Example("SignInTests.swift", main: Self.testing)
    let result = try await example.start().result()
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect((result.output + result.errors).contains("with 2 tests"), "\(result.output)")
    await example.sandbox.stop()
  }

  @Test func `each example is quoted unchanged in an article or the README`() throws {
    let examples = try Example.all()
    #expect(examples.count == 7)
    var quoted: Set<String> = []
    for sample in try Sample.all() {
      guard let name = sample.example else { continue }
      #expect(examples[name] == sample.code, "\(sample)")
      quoted.insert(name)
    }
    #expect(quoted == Set(examples.keys))
  }

  @Test func `the examples' package resolves its dependencies and names each example`() async throws
  {
    let place = try TemporaryFolder()
    let options = ["--package-path", Example.folder.path, "--scratch-path", place.path]
    let result = try await ChildProcess.run(
      ["swift", "package", "--cache-path", place.file("cache")] + options + ["show-dependencies"],
      within: .seconds(240))
    #expect(result.status == 0 && !result.errors.contains("warning:"), "\(result.errors)")
    let manifest = try String(
      contentsOf: Example.folder.appending(path: "Package.swift"), encoding: .utf8)
    for name in try Example.all().keys + ["Web"] { #expect(manifest.contains("[\"\(name)\"]")) }
  }

  /// The code that SwiftPM adds to a package's tests.
  private static let testing = """
    import Testing

    @main struct Main {
      static func main() async { await Testing.__swiftPMEntryPoint() as Never }
    }
    """

  /// Expects the exact exit status and output, so that the output can contain no secret.
  private func expect(
    _ program: ChildProcess, _ output: String, status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await program.result()
    #expect(result.output == output, "\(result.errors)", sourceLocation: sourceLocation)
    #expect(result.status == status, sourceLocation: sourceLocation)
  }
}
