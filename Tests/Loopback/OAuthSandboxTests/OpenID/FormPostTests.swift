import FoundationEssentials
import OAuthSandbox
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct FormPostTests {
  @Test(arguments: [SandboxVisitor.Decision.allow, .deny])
  func `form_post sends the answer to the app by POST`(decision: SandboxVisitor.Decision)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let received = Locked<[String]>([])
    let app = try LoopbackServer { request in
      let body = String(decoding: request.body, as: UTF8.self)
      received.withLock { $0.append("\(request.method) \(request.target) \(body)") }
      return .response(LoopbackResponse(status: 200, body: Data("thank you".utf8)))
    }
    let target = "http://\(app.authority)/callback"
    let url = try SandboxPeer(sandbox: sandbox).authorizationURL([
      "redirect_uri": target, "response_mode": "form_post", "state": "<\"&'>",
    ])
    let visit = try await SandboxVisitor(decision: decision).visit(url)
    #expect(visit.redirect == target, "the address has no parameter")
    let names = decision == .allow ? ["code"] : ["error", "error_description"]
    #expect(visit.form.map(\.name) == names + ["state", "iss"])
    #expect(visit.form.first { $0.name == "state" }?.value == "<\"&'>")
    #expect(visit.pages.last?.body == "thank you")
    let request = try #require(received.withLock { $0 }.first)
    #expect(request.hasPrefix("POST /callback \(names[0])="))
    await app.stop()
    await sandbox.stop()
  }

  @Test func `the form works without its script and posts only to the app`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(
      try client.authorizationURL([
        "redirect_uri": "http://127.0.0.1:8080/callback", "response_mode": "form_post",
        "response_type": "token",
      ]))
    #expect(page.status == 200)
    #expect(page.text.contains(#"<form method="post" action="http://127.0.0.1:8080/callback">"#))
    #expect(page.text.contains("unsupported_response_type"))
    #expect(page.text.contains("<button>Continue</button>"))
    let policy = try #require(page.header("content-security-policy"))
    #expect(policy.contains("; script-src 'nonce-"))
    #expect(policy.hasSuffix("form-action http://127.0.0.1:8080"))
    await sandbox.stop()
  }

  @Test func `a fault that a test sets for the redirect also alters the posted form`() async throws
  {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .authorization, .state(.missing))
    let url = try SandboxPeer(sandbox: sandbox).authorizationURL(["response_mode": "form_post"])
    let visit = try await SandboxVisitor().visit(url)
    #expect(visit.redirect == SandboxPeer.redirectURI)
    #expect(visit.form.map(\.name) == ["code", "iss"])
    await sandbox.stop()
  }
}
