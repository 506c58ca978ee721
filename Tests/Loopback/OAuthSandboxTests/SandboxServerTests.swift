import FoundationEssentials
import OAuthSandbox
import TestSupport
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct SandboxServerTests {
  @Test func `every request is recorded in decoded form`() async throws {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1000) }
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    sandbox.advance(by: .seconds(5))
    _ = try await client.post(
      "/token?q=a+b%2B", [("grant_type", "x y+&="), ("twice", "1"), ("twice", "2")],
      headers: [("X-Test", "yes")])
    let request = try #require(sandbox.requests.last)
    #expect(request.endpoint == .token)
    #expect(request.method == "POST")
    #expect(request.path == "/token")
    #expect(request.query("q") == "a b+")
    #expect(request.form("grant_type") == "x y+&=")
    #expect(request.form("twice") == nil)
    #expect(request.form.filter { $0.name == "twice" }.map(\.value) == ["1", "2"])
    #expect(request.header("X-test") == "yes")
    #expect(request.date == Date(timeIntervalSince1970: 1005))
    #expect(request.connection != 0)
    #expect("\(request)" == "POST /token")
    sandbox.forgetRequests()
    #expect(sandbox.requests.isEmpty)
    await sandbox.stop()
  }

  @Test func `a test can wait for a request`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let waiting = Task { try await sandbox.requests(to: .me, atLeast: 2) }
    for _ in 0..<2 { _ = try await client.get("/api/me") }
    #expect(try await waiting.value.count == 2)
    #expect(try await sandbox.requests(to: .me, atLeast: 1).count == 2)
    let hopeless = Task { try await sandbox.requests(to: .token, atLeast: 1) }
    hopeless.cancel()
    await #expect(throws: CancellationError.self) { try await hopeless.value }
    await sandbox.stop()
  }

  /// Starts a sandbox on a port that no other test can get while the socket exists.
  private static func startOnReservedPort() async throws -> (
    SandboxServer, SandboxOptions, BoundSocket
  ) {
    let socket = try BoundSocket()
    var options = SandboxOptions()
    options.port = socket.port
    return (try await SandboxServer.start(options), options, socket)
  }

  @Test func `a port in use is an error, and a stopped sandbox frees its port`() async throws {
    let (sandbox, options, socket) = try await Self.startOnReservedPort()
    #expect(sandbox.issuer.port == Int(socket.port))
    await #expect(throws: SandboxError.portInUse(options.port)) {
      try await SandboxServer.start(options)
    }
    await sandbox.stop()
    let next = try await SandboxServer.start(options)
    #expect(next.issuer == sandbox.issuer)
    await next.stop()
    withExtendedLifetime(socket) {}
  }

  @Test func `a sandbox that is stopped while it restarts stays stopped`() async throws {
    let (sandbox, options, socket) = try await Self.startOnReservedPort()
    let restart = Task { try await sandbox.restart(after: .seconds(Int64.max)) }
    try await eventually("the sandbox has closed its port") {
      (try? await LoopbackConnection(port: socket.port)) == nil
    }
    await sandbox.stop()
    // The end of the task ends the pause.
    restart.cancel()
    try await restart.value
    let next = try await SandboxServer.start(options)
    await next.stop()
    try await sandbox.restart()
    #expect(try await SandboxPeer(sandbox: sandbox).get("/").status == 200)
    await sandbox.stop()
    withExtendedLifetime(socket) {}
  }

  @Test func `two restarts at once leave one sandbox on its port`() async throws {
    let (sandbox, _, socket) = try await Self.startOnReservedPort()
    async let one: Void = sandbox.restart()
    async let other: Void = sandbox.restart()
    _ = try await (one, other)
    #expect(try await SandboxPeer(sandbox: sandbox).get("/").status == 200)
    await sandbox.stop()
    withExtendedLifetime(socket) {}
  }

  @Test func `descriptions show no secrets`() async throws {
    let canary = "canary-4711"
    let user = SandboxUser(name: "a", password: canary)
    let client = SandboxClient(id: "c", secret: canary)
    var options = SandboxOptions()
    options.users = [user]
    options.clients = [client]
    let sandbox = try await SandboxServer.start(options)
    _ = try await SandboxPeer(sandbox: sandbox).post(
      "/token?a=\(canary)", [("password", canary)], headers: [("Authorization", canary)])
    var text = ""
    let visitor = SandboxVisitor(user: user)
    for value in [user, client, options, sandbox, sandbox.requests, visitor] as [Any] {
      dump(value, to: &text)
      text += String(describing: value) + String(reflecting: value)
    }
    let tokens = sandbox.issueTokens()
    dump(tokens, to: &text)
    dump(sandbox.requests[0].form, to: &text)
    #expect(!text.contains(canary))
    #expect("\(sandbox)" == "sandbox at \(sandbox.issuer.absoluteString)")
    #expect("\(visitor)" == "visitor a")
    #expect(!text.contains(tokens.accessToken) && !text.contains(tokens.refreshToken))
    await sandbox.stop()
  }

  @Test func `many sign-ins at the same time succeed and get different tokens`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<24 {
        group.addTask {
          let user: SandboxUser = number.isMultiple(of: 2) ? .alice : .bob
          let redirect = try await client.redirect(visitor: SandboxVisitor(user: user))
          let code = try #require(redirect.value("code"))
          let token = try await client.redeem(code).tokens().accessToken
          let me = try await client.api("/api/me", token: token)
          #expect(me.text.contains(#""user_name":"\#(user.name)""#))
          return token
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(tokens.count == 24)
    await sandbox.stop()
  }
}
