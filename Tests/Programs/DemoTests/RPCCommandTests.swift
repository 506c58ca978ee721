import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(2)), .requiresGRPCIO) struct `The rpc command` {
  private static let sentence =
    "Used scope: profile demo files offline_access on behalf of user alice\n"

  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private func rpc(
    _ words: [String], environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      ["rpc"] + words + ["--store", "file:" + folder.file("tokens")], in: folder,
      environment: environment)
  }

  /// Runs `body` with a sandbox and a gRPC server that accepts its tokens, and stops both
  /// afterwards.
  private func withServers(
    certificates: Certificates? = nil, options: [String] = [],
    _ body: (SandboxServer, GRPCServer) async throws -> Void
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let userInfo = sandbox.url(.me)
    try await GRPCServer.running(
      certificates: certificates, userInfo: userInfo, options: options
    ) { server in
      try await body(sandbox, server)
    }
    await sandbox.stop()
  }

  private func calls(_ server: GRPCServer) async throws -> Int {
    try await server.caughtUp()
    return server.count(of: "UnaryCall")
  }

  @Test
  func `the rpc command refreshes an expired token and prints the server's answer to the call`()
    async throws
  {
    try await withServers { sandbox, server in
      try await store.keepExpiredAccount(at: sandbox)
      for url in [server.url.absoluteString, server.url.absoluteString + "/"] {
        let outcome = try await rpc([url])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == Self.sentence)
        #expect(outcome.errors.isEmpty)
      }
      #expect(sandbox.requests(to: .token).count == 1)
      #expect(try await calls(server) == 2)
    }
  }

  @Test func `the rpc command repeats a call once if the server rejects the token`()
    async throws
  {
    try await withServers { sandbox, server in
      try await store.keepExpiredAccount(at: sandbox)
      #expect(try await rpc([server.url.absoluteString]).status == 0)
      // The program considers the token valid for an hour.
      sandbox.expireAccessTokens()
      sandbox.forgetRequests()
      let outcome = try await rpc([server.url.absoluteString])
      #expect(outcome.output == Self.sentence, "\(outcome.errors)")
      #expect(sandbox.requests(to: .token).count == 1)
      #expect(try await calls(server) == 3)
    }
  }

  @Test func `the rpc command reaches a TLS server only if --cacert names the server's authority`()
    async throws
  {
    let certificates = try await Certificates()
    try await withServers(certificates: certificates) { sandbox, server in
      try await store.keepExpiredAccount(at: sandbox)
      let url = server.url.absoluteString
      let outcome = try await rpc([url, "--cacert", certificates.path("ca.pem")])
      #expect(outcome.output == Self.sentence, "\(outcome.errors)")
      let unknown = try await rpc([url])
      #expect(unknown.status == 1 && unknown.output.isEmpty)
      #expect(unknown.errors.contains(": Unexpected RPC error "), "\(unknown.errors)")
      #expect(
        unknown.errors.contains("\nIn sq-demo, name a file with the authority of the server's"))
      #expect(try await calls(server) == 1)
    }
  }

  @Test func `the rpc command shows the challenge for a bad token but not the token`() async throws
  {
    try await withServers { sandbox, server in
      try await store.keepExpiredAccount(at: sandbox)
      let outcome = try await rpc(
        [server.url.absoluteString], environment: ["SQ_ACCESS_TOKEN": "c4n4ry"])
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      let lines = outcome.errors.split(separator: "\n")
      #expect(
        lines.first == "error: unauthenticated: Invalid credentials. Server challenge:")
      #expect(lines.last?.hasPrefix("Bearer realm=\"sandbox\", error=\"invalid_token\"") == true)
      #expect(lines.count == 2 && !outcome.errors.contains("c4n4ry"))
      // The account was not changed.
      #expect(sandbox.requests(to: .token).isEmpty)
      #expect(try await calls(server) == 1)
    }
  }

  @Test func `the rpc command shows the challenge of a call that the token does not allow`()
    async throws
  {
    try await withServers(options: ["--scope", "admin"]) { sandbox, server in
      try await store.keepExpiredAccount(at: sandbox)
      let outcome = try await rpc([server.url.absoluteString])
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(
        outcome.errors == """
          error: permission_denied: Unexpected RPC error 7: the token does not allow it
          challenge: Bearer error="insufficient_scope", scope="admin"
          Sign in again with 'sq-demo login --account default --store file:\(store.path)' and a wider --scope.

          """)
    }
  }

  @Test func `the rpc command waits for a silent server only until its time limit`() async throws {
    let listener = try BoundSocket()
    try listener.listen()
    let outcome = try await rpc(
      ["http://127.0.0.1:\(listener.port)", "--timeout", "1"],
      environment: ["SQ_ACCESS_TOKEN": "abc"])
    withExtendedLifetime(listener) {}
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: deadline_exceeded: Unexpected RPC error 4: "))
    #expect(
      outcome.errors.hasSuffix(
        "\nThe server did not answer in time; --timeout gives it more time.\n"))
  }

  @Test func `the rpc command uses a token from the environment without an account`() async throws {
    try await withServers { sandbox, server in
      let token = sandbox.issueTokens(for: "bob", scopes: ["profile"]).accessToken
      let outcome = try await rpc(
        [server.url.absoluteString], environment: ["SQ_ACCESS_TOKEN": token])
      #expect(outcome.output == "Used scope: profile on behalf of user bob\n")
      #expect(outcome.errors.isEmpty)
      #expect(!folder.exists("tokens"))
    }
  }

  @Test func `the rpc command prints a gRPC status code if the server cannot be reached`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await store.keepExpiredAccount(at: sandbox)
    let port = try ClosedPort()
    let outcome = try await rpc(["http://127.0.0.1:\(port.number)"])
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: unavailable: Unexpected RPC error 14: "))
    await sandbox.stop()
  }

  @Test func `the rpc command asks the user to sign in and makes no call if nobody is signed in`()
    async throws
  {
    try await withServers { _, server in
      let outcome = try await rpc([server.url.absoluteString])
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(outcome.firstError == "error: no_account: nobody is signed in")
      #expect(outcome.errors.contains("\nPlease sign in. "))
      #expect(try await calls(server) == 0)
    }
  }

  @Test func `the rpc command prints the reason if the session has ended`() async throws {
    try await withServers { sandbox, server in
      try await store.keepExpiredAccount(at: sandbox)
      sandbox.revokeEverything()
      let outcome = try await rpc([server.url.absoluteString])
      #expect(outcome.status == 1)
      #expect(outcome.firstError.hasPrefix("error: invalid_grant: "), "\(outcome.errors)")
      #expect(outcome.errors.contains("\nSign in again with 'sq-demo login"))
      #expect(try await calls(server) == 0)
    }
  }

  @Test func `the rpc command ends with status 3 when it is interrupted`() async throws {
    // Connections to the listener succeed, but get no answer.
    let listener = try BoundSocket()
    try listener.listen()
    let demo = try DemoProcess(
      ["rpc", "http://127.0.0.1:\(listener.port)", "--store", "memory"], in: folder,
      environment: ["SQ_ACCESS_TOKEN": "abc"])
    // The test does not accept the connection, so that no program of another test inherits its
    // descriptor.
    try await eventually("the call is made") {
      var connections = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&connections, 1, 0) == 1
    }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    withExtendedLifetime(listener) {}
    #expect(outcome.status == 3 && !outcome.isKilled)
    #expect(outcome.errors == "error: cancelled: the command was interrupted\n")
  }

  @Test func `the tour makes the gRPC call and continues after an error`() async throws {
    try await withServers { _, server in
      let words = ["tour", "--rpc", server.url.absoluteString]
      let outcome = try await DemoProcess.run(words, in: folder)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let expected = """
        Invalid credentials. Server challenge:
        Bearer realm="sandbox", error="invalid_token"
        """
      #expect(outcome.output.contains(expected), "\(outcome.output)")
      #expect(outcome.output.contains("\nWaiting for RPC to complete...\n"))
      #expect(outcome.lines.count { $0 == "The token is refreshed." } == 2)
      #expect(outcome.lines.suffix(2) == ["Signed out.", "Please sign in."])
      #expect(try await calls(server) == 2)
    }
  }

  @Test func `the rpc command with --sandbox calls the gRPC server of the built-in sandbox`()
    async throws
  {
    let outcome = try await DemoProcess.run(["rpc", "--sandbox"], in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == "Used scope: openid profile demo files on behalf of user alice\n")
    let json = try await DemoProcess.run(
      ["rpc", "--sandbox", "--json", "--scope", "profile"], in: folder)
    #expect(json.output == #"{"scope":"profile","user":"alice"}"# + "\n", "\(json.errors)")
    #expect(!folder.exists("state"))
  }

  @Test func `the rpc command shows the challenge of the built-in sandbox for a bad token`()
    async throws
  {
    let outcome = try await DemoProcess.run(
      ["rpc", "--sandbox"], in: folder, environment: ["SQ_ACCESS_TOKEN": "c4n4ry"])
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(
      outcome.errors == """
        error: unauthenticated: Invalid credentials. Server challenge:
        Bearer realm="sandbox", error="invalid_token", \
        error_description="The access token is unknown, expired or revoked."

        """)
  }

  @Test(arguments: [
    ([], "URL is missing; it can be left out with --sandbox only"),
    (["--account", "a"], "URL is missing; it can be left out with --sandbox only"),
    (["https://a.example", "b"], "unexpected argument \"b\""),
    (
      ["https://a.example", "--sandbox"], "--sandbox has a gRPC server of its own; leave URL out"
    ),
    (["--sandbox", "--ca", "/dev/null"], "--cacert /dev/null is empty"),
  ])
  func `the rpc command needs either the server's URL or --sandbox`(
    words: [String], error: String
  ) async throws {
    let outcome = try await DemoProcess.run(["rpc"] + words, in: folder)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.firstError == "error: usage: " + error)
  }

  @Test(arguments: [
    (["http://rpc.example:1"], "insecure_endpoint"), (["ftp://a"], "malformed"),
    (["nonsense"], "malformed"), (["https://a.example/path"], "usage: a gRPC server's URL"),
    (["https://a.example", "--cacert", "/no/such"], "usage: --cacert /no/such cannot be read"),
    (
      ["https://a.example", "--proxy", "ftp://a"], "usage: --proxy: the address of the proxy has a"
    ),
    (["https://a.example", "--access-token", "hunter2"], "usage: a token is never an argument"),
  ])
  func `the rpc command rejects an invalid server or option`(words: [String], error: String)
    async throws
  {
    let outcome = try await rpc(words)
    #expect(outcome.status == 2)
    #expect(outcome.firstError.hasPrefix("error: \(error)"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("hunter2"))
  }

  @Test func `the rpc command rejects a token that cannot be sent, without showing it`()
    async throws
  {
    let outcome = try await rpc(
      ["http://127.0.0.1:1"], environment: ["SQ_ACCESS_TOKEN": "hunter 2"])
    #expect(outcome.status == 2)
    #expect(outcome.firstError.hasPrefix("error: usage: SQ_ACCESS_TOKEN: the access token"))
    #expect(!outcome.errors.contains("hunter"))
    let token = Secret(.accessToken, "hunter2")
    #expect(!"\(token) \(String(reflecting: token))".contains("hunter2"))
  }
}

@Suite struct `The messages of the test service` {
  @Test func `messages of the test service are encoded like protobuf`() {
    let codec = TestService.Request.Codec()
    #expect(codec.encode(.init()) == Data())
    #expect(codec.encode(.init(fillUsername: true)) == Data([0x20, 1]))
    #expect(
      codec.encode(.init(fillUsername: true, fillOAuthScope: true)) == Data([0x20, 1, 0x28, 1]))
    let answer = TestService.Response.Codec().encode(.init(username: "al", oauthScope: "b"))
    #expect(answer == Data([0x12, 2, 0x61, 0x6C, 0x1A, 1, 0x62]))
  }

  @Test(arguments: [0, 1, 127, 128, 300, 20_000])
  func `messages of the test service are decoded unchanged at any length`(length: Int) throws {
    let codec = TestService.Response.Codec()
    let message = TestService.Response(
      username: String(repeating: "ü", count: length), oauthScope: "a b")
    #expect(try codec.decode(codec.encode(message)) == message)
  }

  @Test func `messages of the test service are decoded without their unknown fields`() throws {
    let unknown: [UInt8] = [
      0x08, 0x96, 0x01, 0x0A, 2, 9, 9, 0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x2D, 1, 2, 3, 4,
    ]
    let bytes = Data(unknown + [0x12, 1, 0x61] + unknown + [0x12, 1, 0x62])
    #expect(try TestService.Response.Codec().decode(bytes) == .init(username: "b"))
  }

  @Test(
    arguments: [
      [0x12], [0x12, 2, 0x61], [0x12, 1, 0xFF], [0x10, 1], [0x13], [0x80], [0x09, 1, 2],
      [0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ] as [[UInt8]])
  func `malformed messages of the test service are rejected`(bytes: [UInt8]) {
    #expect(throws: Protobuf.Malformed.self) {
      try TestService.Response.Codec().decode(Data(bytes))
    }
  }
}
