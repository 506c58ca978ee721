import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SQLoopback
import TestSupport
import Testing

/// The sandbox's pages for OpenID Connect in a real browser.
@Suite(.requires(.chromium), .timeLimit(.minutes(15)))
struct SandboxOpenIDPageTests {
  private func authorizationURL(
    _ sandbox: SandboxServer, redirectURI: String, _ more: [String: String]
  ) -> String {
    let parameters = [
      "response_type": "code", "client_id": "sandbox-app", "redirect_uri": redirectURI,
      "scope": "openid email", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      "code_challenge_method": "S256",
    ]
    let url = sandbox.authorizationEndpoint.appending(
      queryItems: parameters.merging(more) { $1 }.map { URLQueryItem(name: $0, value: $1) })
    return url.absoluteString
  }

  @Test
  func `a form_post response reaches the app, and the account and sign-out pages are readable`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let received = Locked<[String]>([])
    let app = try LoopbackServer { request in
      received.withLock { $0.append("\(request.method) \(request.path)") }
      let page = Data("<!doctype html><title>App</title><h1>Arrived</h1>".utf8)
      return .response(
        LoopbackResponse(status: 200, headers: [("Content-Type", "text/html")], body: page))
    }
    let redirectURI = "http://\(app.authority)/callback"
    try await Browser.open { browser in
      try await browser.go(
        to: authorizationURL(
          sandbox, redirectURI: redirectURI, ["response_mode": "form_post"]))
      try await browser.logInToSandbox(as: .alice)
      try await browser.reach("Allow Sandbox App?")
      try await browser.decide("allow")
      try await browser.reach("Arrived")
      #expect(received.withLock { $0 }.first == "POST /callback")

      try await browser.go(
        to: authorizationURL(sandbox, redirectURI: redirectURI, ["prompt": "select_account"]))
      try await browser.reach("Choose an account")
      try await Look.over(browser, named: "sandbox-account")
      try await browser.decide("continue")
      try await browser.reach("Allow Sandbox App?")

      try await browser.go(to: sandbox.endSessionEndpoint.absoluteString)
      try await browser.reach("Sign out?")
      try await Look.over(browser, named: "sandbox-sign-out")
      try await browser.decide("sign-out")
      try await browser.reach("You are signed out")
      try await Look.over(browser, named: "sandbox-signed-out")
    }
    await app.stop()
    await sandbox.stop()
  }
}
