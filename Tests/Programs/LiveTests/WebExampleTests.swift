import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// The web application of the examples with real browsers and several processes.
///
/// Each test needs two browsers, the maximum that may run, so two of these tests would wait for
/// each other.
@Suite(.serialized, .requires(.chromium), .timeLimit(.minutes(15))) struct WebExampleTests {
  @Test
  func `a second process finishes the sign-ins that two users began with the first process`()
    async throws
  {
    let example = try await WebExample()
    let first = try await example.start()
    try await Browser.open { alice in
      try await Browser.open { bob in
        for (browser, user) in [(alice, SandboxUser.alice), (bob, .bob)] {
          try await browser.go(to: example.address)
          try await browser.reach("Welcome")
          try await Look.over(browser, named: "web-welcome")
          try await browser.click("a[href='/login']")
          try await browser.logInToSandbox(as: user)
          try await browser.reach("Allow \(SandboxClient.service.name)?")
        }
        // Both users are at the provider, and the process that sent them there ends.
        let second = try await example.start()
        await first.stop()
        async let isIn: Void = alice.decide("allow")
        try await bob.decide("allow")
        try await isIn
        try await alice.reach("Hello, \(SandboxUser.alice.displayName)")
        try await bob.reach("Hello, \(SandboxUser.bob.displayName)")
        try await Look.over(alice, named: "web-hello")
        // With the letter before it, the "<" is one Character.
        let markup = "\u{D4E}<b>x</b>"
        example.sandbox.misbehave(at: .userInfo, .member("name", .string(markup)))
        try await alice.go(to: example.address)
        try await alice.reach("Hello, \(markup)")

        let third = try await example.start()
        try await isServed(example, alice, by: [second, third])
        // The provider signs out alice but not bob, whichever process gets the notification.
        await example.sandbox.signOut(SandboxUser.alice.name)
        try await alice.go(to: example.address)
        try await alice.reach("Goodbye")
        try await isServed(example, bob, by: [second, third])
        try await bob.click("button")
        try await bob.reach("Welcome")
        #expect(example.sandbox.requests(to: .token).filter { $0.form("code") != nil }.count == 2)
        #expect(example.sandbox.requests(to: .revocation).count > 0)
      }
    }
    await example.sandbox.stop()
  }

  /// Loads the application's page until each process has served it.
  private func isServed(
    _ example: WebExample, _ browser: Browser, by processes: [ChildProcess]
  ) async throws {
    var seen: Set<Int32> = []
    try await eventually("each process serves a page") {
      try await browser.go(to: example.address)
      let words = try await browser.text(of: "p").split(separator: " ")
      if words.first == "Process", let id = Int32(words[1]) { seen.insert(id) }
      return seen == Set(processes.map(\.processID))
    }
  }

  @Test func `a sign-in that another browser began is rejected`() async throws {
    let example = try await WebExample()
    let process = try await example.start()
    try await Browser.open { attacker in
      try await Browser.open { victim in
        try await attacker.go(to: example.address + "/login")
        try await attacker.logInToSandbox(as: .bob)
        try await attacker.reach("Allow \(SandboxClient.service.name)?")
        // The attacker stops the redirect and gives it to the victim, who also began a sign-in.
        let begun = try #require(example.sandbox.requests(to: .authorization).last)
        try await victim.go(to: example.address + "/login")
        let redirect = "\(example.address)/callback?code=x&state=\(begun.query("state") ?? "")"
        try await victim.go(to: redirect)
        try await victim.reach("Not signed in")
        try await Look.over(victim, named: "web-refused")
        try await eventually("the program prints the error") {
          process.output.contains("state_mismatch")
        }
        #expect(example.sandbox.requests(to: .token).isEmpty)
        // After a denial, the application does not begin another sign-in by itself.
        try await attacker.decide("deny")
        try await attacker.reach("Not signed in")
      }
    }
    await example.sandbox.stop()
  }
}
