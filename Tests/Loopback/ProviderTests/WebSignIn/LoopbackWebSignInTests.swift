import Foundation
import OAuthSandbox
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthBackend
import Testing

/// A web application on a loopback address, which recognizes each browser by its cookie.
private final class LoopbackWebApp: Sendable {
  private let server: LoopbackServer
  /// A reference to the provider, which keeps it running as long as this application exists.
  private let sandbox: SandboxServer

  /// Starts the application, which refuses `/callback` without the cookie that `/login` has set.
  init(at sandbox: SandboxServer, responseMode: SignInOptions.ResponseMode? = nil) throws {
    self.sandbox = sandbox
    let manager = AccountManager(store: MemoryTokenStore())
    let issuer = sandbox.issuer.absoluteString
    let signIns = Locked<[String: WebSignIn]>([:])
    server = try LoopbackServer { request in
      guard let authority = request.header("host"),
        let client = try? ClientConfiguration(
          clientID: "web", clientSecret: "web-secret",
          redirectURI: "http://\(authority)/callback", scope: "openid",
          provider: .issuer(issuer))
      else { return Self.answer(500) }
      var options = SignInOptions()
      options.responseMode = responseMode
      do {
        guard request.path == "/callback" else {
          let (url, signIn) = try await manager.beginSignIn(client, with: options)
          signIns.withLock { $0[signIn.name] = signIn }
          return Self.answer(
            303, [("Location", url.absoluteString), ("Set-Cookie", "sign-in=\(signIn.name)")])
        }
        let cookie = request.header("cookie")?.replacing("sign-in=", with: "") ?? ""
        guard let signIn = signIns.withLock({ $0[cookie] }) else { return Self.answer(403) }
        let account =
          responseMode == nil
          ? try await manager.finishSignIn(
            signIn, redirect: "http://\(authority)\(request.target)", client)
          : try await manager.finishSignIn(signIn, form: request.body, client)
        return Self.answer(200, [], try await account.idToken().subject)
      } catch {
        return Self.answer(400, [], "\(error)")
      }
    }
  }

  var login: String { "http://\(server.authority)/login" }
  var callback: String { "http://\(server.authority)/callback" }

  private static func answer(
    _ status: Int, _ headers: [(name: String, value: String)] = [], _ body: String = ""
  ) -> LoopbackReply {
    .response(LoopbackResponse(status: status, headers: headers, body: Data(body.utf8)))
  }
}

/// Web sign-ins in which the test's HTTP client follows the redirect and sends the cookie.
@Suite(.timeLimit(.minutes(2))) struct LoopbackWebSignInTests {
  private let browser = CurlTransport()

  private func sandbox() async throws -> SandboxServer {
    var options = SandboxOptions()
    options.clients = [SandboxClient(id: "web", secret: "web-secret")]
    return try await SandboxServer.start(options)
  }

  /// Begins a sign-in, and returns the provider's address and the cookie that the application set.
  private func begin(_ app: LoopbackWebApp) async throws -> (url: URL, cookie: String) {
    let answer = try await browser.send(try WebRequest(url: app.login))
    return (
      try #require(
        answer.headers["Location"].flatMap { URL(string: $0) },
        "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"),
      try #require(answer.headers["Set-Cookie"])
    )
  }

  @Test
  func `a simulated user can leave the redirect to the HTTP client that has the session cookie`()
    async throws
  {
    let app = try LoopbackWebApp(at: try await sandbox())
    let (url, cookie) = try await begin(app)
    let visit = try await SandboxVisitor(followsRedirects: false).visit(url)
    #expect(visit.redirect.hasPrefix(app.callback + "?"))
    #expect(visit.pages.allSatisfy { !$0.url.hasPrefix(app.callback) })
    let request = try WebRequest(url: visit.redirect, headers: ["Cookie": cookie])
    let answer = try await browser.send(request)
    #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "alice")
  }

  @Test func `a simulated user who follows the redirect without the session cookie is refused`()
    async throws
  {
    let app = try LoopbackWebApp(at: try await sandbox())
    let visit = try await SandboxVisitor().visit(try await begin(app).url)
    #expect(visit.pages.last?.status == 403)
  }

  @Test func `a simulated user can leave the form post to the HTTP client with the session cookie`()
    async throws
  {
    let app = try LoopbackWebApp(at: try await sandbox(), responseMode: .formPost)
    let (url, cookie) = try await begin(app)
    let visit = try await SandboxVisitor(followsRedirects: false).visit(url)
    #expect(visit.redirect == app.callback)
    #expect(visit.pages.allSatisfy { $0.url != app.callback })
    var form = URLComponents()
    form.queryItems = visit.form.map { URLQueryItem(name: $0.name, value: $0.value) }
    let body = Data((form.percentEncodedQuery ?? "").replacing("+", with: "%2B").utf8)
    let answer = try await browser.send(
      try WebRequest(
        method: "POST", url: visit.redirect,
        headers: ["Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"],
        body: .bytes(body)))
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }
}
