import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// The demo's gRPC calls with the real program.
///
/// Alice signs in with a real browser, and the calls are made on her behalf until she signs out.
@Suite(.requires(.chromium), .requiresGRPCIO, .timeLimit(.minutes(15)))
struct DemoRPCTests {
  private static let sentence = "Used scope: profile demo on behalf of user alice\n"

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `calls are made on behalf of alice until she signs out`() async throws {
    let sandbox = try await SandboxServer.start()
    let certificates = try await Certificates()
    let userInfo = sandbox.url(.me)
    try await GRPCServer.running(userInfo: userInfo) { server in
      try await GRPCServer.running(certificates: certificates, userInfo: userInfo) { secure in
        let url = server.url.absoluteString
        let secureCall = [
          "rpc", secure.url.absoluteString, "--cacert", certificates.path("ca.pem"),
        ]
        try await signIn(callingAt: url, sandbox)

        // From here on no run names the provider or opens a browser.
        for call in [["rpc", url], secureCall] {
          let result = try await run(call)
          #expect(result.output == Self.sentence && result.errors == "" && result.status == 0)
        }
        try await showsChallenge(["rpc", url])
        try await showsChallenge(secureCall)
        #expect(sandbox.requests(to: .token).count == 1)

        // Only the server knows that the token is invalid now. So the program makes one refresh and
        // repeats the call once.
        sandbox.expireAccessTokens()
        #expect(try await run(secureCall).output == Self.sentence)
        #expect(sandbox.requests(to: .token).count == 2)
        try await secure.caughtUp()
        #expect(secure.count(of: "UnaryCall") == 4)

        #expect(try await run(["logout"]).status == 0)
        let result = try await run(["rpc", url])
        #expect(result.status == 1 && result.output == "")
        #expect(result.errors.contains("Please sign in. "))
        try await server.caughtUp()
        #expect(server.count(of: "UnaryCall") == 3)
      }
    }
    await sandbox.stop()
  }

  /// Runs the first call, which opens the browser because nobody is signed in.
  private func signIn(callingAt url: String, _ sandbox: SandboxServer) async throws {
    try await Browser.open { browser in
      let demo = try start([
        "rpc", url, "--issuer", sandbox.issuer.absoluteString, "--client-id", "sandbox-app",
        "--scope", "profile demo",
      ])
      let page = try await eventually("the demo opens the browser") {
        let text = try? String(contentsOfFile: folder.file("url"), encoding: .utf8)
        if text == nil, !demo.isRunning { return demo.errors }
        return text.flatMap { $0.hasSuffix("\n") ? String($0.dropLast()) : nil }
      }
      try #require(page.hasPrefix("http://127.0.0.1:"), "\(page)")
      try FileManager.default.removeItem(atPath: folder.file("url"))
      try await browser.go(to: page)
      try await browser.logInToSandbox(as: .alice)
      try await browser.decide("allow")
      try await browser.reach("You are signed in")
      let result = try await demo.result()
      #expect(result.output == Self.sentence && result.status == 0, "\(result.errors)")
    }
  }

  private func showsChallenge(_ call: [String]) async throws {
    let result = try await run(call, ["SQ_ACCESS_TOKEN": "no-such-token"])
    #expect(result.status == 1 && result.output == "")
    let challenge = "Invalid credentials. Server challenge:\nBearer realm=\"sandbox\", "
    #expect(result.errors.contains(challenge), "\(result.errors)")
    #expect(!result.errors.contains("no-such-token"))
  }

  /// Runs the demo to its end without a browser.
  private func run(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) async throws -> ChildProcess.Result {
    let result = try await start(arguments, environment).result()
    #expect(!FileManager.default.fileExists(atPath: folder.file("url")))
    return result
  }

  /// Starts the demo.
  ///
  /// The shell command in the option `--browser` writes the address to a file.
  private func start(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> ChildProcess {
    let browser =
      arguments.first == "rpc" ? ["--browser", #"sh -c 'echo "$0" >"$URL_FILE"'"#] : []
    return try ChildProcess(
      [BuiltProgram.path("sq-demo")] + arguments
        + ["--store", "file:" + folder.file("tokens")] + browser,
      environment: environment.merging(["URL_FILE": folder.file("url")]) { $1 })
  }
}
