import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Signs users in with a code that they enter in a real browser, as on a phone.
@Suite(.requires(.chromium), .timeLimit(.minutes(15))) struct DeviceCodePageTests {
  /// The demo without a browser, at an independent server.
  @Test(.requires(.glewlwyd), arguments: [["--device"], []])
  func `the demo shows a code for glewlwyd and gets the token`(options: [String]) async throws {
    try await Glewlwyd.running { server in
      try await Browser.open { browser in
        let demo = try ChildProcess(
          [
            BuiltProgram.path("sq-demo"), "login", "--json",
            "--issuer", server.issuer, "--client-id", Glewlwyd.Client.public.rawValue,
            "--scope", "read write", "--store", "memory",
          ] + options,
          environment: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil, "BROWSER": nil])
        let lines = try await eventually("the demo shows the code") {
          demo.errors.contains("Ctrl-C") ? demo.errors.split(separator: "\n") : nil
        }.filter { $0.hasPrefix("  ") }.map { $0.trimmingCharacters(in: .whitespaces) }
        try #require(lines.count == 2, "\(demo.errors)")
        #expect(lines[0] == server.issuer + "/device")
        try await browser.go(to: lines[0])
        try await browser.type(lines[1], into: "input[placeholder]")
        try await browser.click("button.btn-primary.btn-icon")
        try await browser.logInToGlewlwyd(as: .alice)
        try await browser.consentOnGlewlwyd(to: ["read", "write"])
        let result = try await demo.result()
        #expect(result.status == 0, "\(result.errors)")
        let token = try JSONDecoder().decode(Token.self, from: Data(result.output.utf8))
        #expect(try await server.introspect(token.accessToken).username == "alice")
      }
    }
  }

  private struct Token: Decodable {
    let accessToken: String

    private enum CodingKeys: String, CodingKey {
      case accessToken = "access_token"
    }
  }

  // MARK: The sandbox's own pages

  @Test func `alice connects a device after entering a wrong code`() async throws {
    try await withDevice { browser, authorization, _ in
      try await browser.go(to: authorization.verificationURI.absoluteString)
      try await browser.reach("Connect a device")
      try await Look.over(browser, named: "sandbox-device")
      try await browser.type("XXXX-XXXX\n", into: "#user_code")
      try await browser.wait(for: "[role=alert]")
      try await Look.over(browser, named: "sandbox-device-failed")
      for _ in 0..<9 { try await browser.type("\u{E003}", into: "#user_code") }
      try await browser.type(authorization.userCode.lowercased() + "\n", into: "#user_code")
      try await browser.logInToSandbox(as: .alice)
      try await browser.reach("Allow Sandbox App?")
      try await browser.decide("allow")
      try await browser.reach("Your device is connected")
      try await Look.over(browser, named: "sandbox-device-connected")
    }
  }

  @Test func `the page at verification_uri_complete shows the code, and the user can deny access`()
    async throws
  {
    try await withDevice(isAllowed: false) { browser, authorization, _ in
      let complete = try #require(authorization.verificationURIComplete)
      try await browser.go(to: complete.absoluteString)
      try await browser.reach("Connect a device")
      #expect(try await browser.text(of: ".code") == authorization.userCode)
      try await Look.over(browser, named: "sandbox-device-complete")
      try await browser.decide("connect")
      try await browser.logInToSandbox(as: .alice)
      try await browser.reach("Allow Sandbox App?")
      try await browser.decide("deny")
      try await browser.reach("Your device is not connected")
      try await Look.over(browser, named: "sandbox-device-denied")
    }
  }

  /// Begins a sign-in at a sandbox, and checks its result after the browser's part.
  private func withDevice(
    isAllowed: Bool = true,
    _ act: (Browser, DeviceAuthorization, SandboxServer) async throws -> Void
  ) async throws {
    var options = SandboxOptions()
    options.deviceInterval = .seconds(1)
    let sandbox = try await SandboxServer.start(options)
    try await Browser.open { browser in
      let oauth = SQOAuth()
      oauth.register(
        try ClientConfiguration(
          clientID: "sandbox-app", scope: "profile demo",
          provider: .issuer(sandbox.issuer.absoluteString)))
      let (shown, continuation) = AsyncStream.makeStream(of: DeviceAuthorization.self)
      let signIn = Task { () async throws in
        try await oauth.signInWithDeviceCode { @Sendable in continuation.yield($0) }
      }
      let authorization = try #require(await shown.first { _ in true })
      try await act(browser, authorization, sandbox)
      if isAllowed {
        #expect(try await signIn.value.scopes == ["profile", "demo"])
      } else {
        await failure(.accessDenied) { try await signIn.value }
      }
    }
    await sandbox.stop()
  }
}
