import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import TestSupport
import Testing

@testable import sq_demo

/// The steps of the cookbook at the sandbox, and the requests of these steps.
@Suite(.timeLimit(.minutes(1))) struct `The cookbook` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The requests of a sign-in.
  ///
  /// A user with a session at the server needs no password again.
  private static func signIn(first: Bool) -> [String] {
    ["GET /.well-known/oauth-authorization-server", "GET /authorize"]
      + (first ? ["POST /login", "GET /consent"] : [])
      + ["POST /consent", "POST /token authorization_code"]
  }

  /// Every expected request of the cookbook, in order.
  ///
  /// The line of a request with a token ends with the number of the token.
  private static let requests =
    signIn(first: true) + [
      "GET /drive/v2/files with token 1", "GET /drive/v2/files with token 1",
      "POST /upload/drive/v2/files with token 1", "PUT /drive/v2/files/f1006 with token 1",
      "DELETE /drive/v2/files/f1006 with token 1",
      "POST /token refresh_token", "GET /drive/v2/files with token 2",
      "POST /revoke refresh_token", "POST /revoke access_token",
    ] + signIn(first: false) + ["GET /drive/v2/files with token 3"]

  @Test func `the cookbook sends exactly the requests that its steps need`() async throws {
    let sandbox = try await SandboxServer.start()
    let steps = Locked<[String]>([])
    let visitor = SandboxVisitor()
    let cookbook = DriveCookbook(
      issuer: sandbox.issuer.absoluteString, clientID: "sandbox-app",
      api: sandbox.issuer.absoluteString,
      browser: CustomUserAgent { _ = try await visitor.visit($0) },
      tell: { step, _ in steps.withLock { $0.append(step) } })
    try await cookbook.run()

    #expect(
      steps.withLock { $0 } == [
        "configure", "authorize", "list", "upload", "rename", "delete", "refresh", "revoke",
        "again",
      ])
    #expect(Self.lines(sandbox.requests) == Self.requests)
    let upload = try #require(sandbox.requests(to: .driveUpload).first)
    #expect(upload.header("content-type")?.hasPrefix("multipart/form-data; boundary=") == true)
    let rename = try #require(sandbox.requests.first { $0.method == "PUT" })
    #expect(
      try JSONDecoder().decode([String: String].self, from: rename.body)
        == ["id": "f1006", "title": "Groceries.txt"])
    #expect(
      sandbox.requests(to: .driveFiles).map { $0.query.map(\.name) }.prefix(2) == [
        ["maxResults"], ["maxResults", "pageToken"],
      ])
    await sandbox.stop()
  }

  /// Returns the requests, with the tokens numbered in their order of appearance.
  private static func lines(_ requests: [SandboxRequest]) -> [String] {
    var tokens: [String] = []
    return requests.map { request in
      var line = request.description
      if let kind = request.form("grant_type") ?? request.form("token_type_hint") {
        line += " " + kind
      }
      if let token = request.bearerToken {
        if !tokens.contains(token) { tokens.append(token) }
        line += " with token \((tokens.firstIndex(of: token) ?? 0) + 1)"
      }
      return line
    }
  }

  @Test func `the cookbook ends at the first failed step`() async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .driveUpload, .status(503, body: "later"))
    let steps = Locked<[String]>([])
    let visitor = SandboxVisitor()
    let cookbook = DriveCookbook(
      issuer: sandbox.issuer.absoluteString, clientID: "sandbox-app",
      api: sandbox.issuer.absoluteString,
      browser: CustomUserAgent { _ = try await visitor.visit($0) },
      tell: { step, _ in steps.withLock { $0.append(step) } })
    let error = try #require(await #expect(throws: PipeError.self) { try await cookbook.run() })
    #expect(error.refusal?.status == 503)
    #expect(steps.withLock { $0 } == ["configure", "authorize", "list"])
    await sandbox.stop()
  }

  @Test func `the cookbook command prints one line for each step`() async throws {
    let outcome = try await DemoProcess.run(["cookbook"], in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.isEmpty)
    #expect(
      outcome.lines.dropFirst() == [
        "authorize  access until revoked, for: files",
        "list       5 files, from \"Read me first.txt\" on",
        "upload     \"Shopping list.txt\" is f1006",
        "rename     f1006 is \"Groceries.txt\"",
        "delete     f1006 is gone",
        "refresh    a new token, and still 5 files",
        "revoke     access is over, 0 files are shown",
        "again      the user was asked for access, 5 files",
      ])
    #expect(outcome.lines.first?.hasPrefix("configure  a client of http://127.0.0.1:") == true)
    #expect(!folder.exists("state"))
  }

  @Test func `the cookbook ends with status 3 when it is interrupted`() async throws {
    let demo = try DemoProcess(["cookbook", "--browser", "sh -c 'sleep 60'"], in: folder)
    try await eventually("the cookbook waits for the user") { demo.output.hasPrefix("configure ") }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled)
    #expect("\n\(outcome.errors)".contains("\nerror: cancelled: "), "\(outcome.errors)")
  }
}
