import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `The sandbox with a configuration file` {
  @Test func `a user that the file defines signs in with a client that the file defines`()
    async throws
  {
    let (folder, guest) = (try TemporaryFolder(), try TemporaryFolder())
    let example = try await DemoProcess.run(["sandbox", "--config-example"], in: guest)
    #expect(example.status == 0 && example.output == SandboxConfig.example + "\n")
    try folder.write(example.output, to: "sandbox.json")
    let demo = try DemoProcess(
      ["sandbox", "--json", "--port", "0", "--config", folder.file("sandbox.json")], in: folder)
    try await eventually("the sandbox listens") { demo.output.hasSuffix("\n") }
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(demo.output.utf8)) as? [String: Any])
    let issuer = try #require(json["issuer"] as? String)
    #expect(!issuer.hasSuffix(":8989"))
    let carol = SandboxUser(name: "carol", password: "carol-password")
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { url, signIn in
      signIn.handleRedirect(try await SandboxVisitor(user: carol).visit(url).redirect)
    }
    let account = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "shop-app", redirectURI: "http://127.0.0.1/callback",
        scope: "openid email orders.read", provider: .issuer(issuer)),
      environment: environment)
    let token = try await account.signIn()
    #expect(token.scopes == ["openid", "email", "orders.read"])
    #expect(token.idToken?.subject == "user-3")
    #expect(try await account.userInfo().email == "carol@example.com")
    demo.send(SIGINT)
    #expect(await demo.outcome().status == 0)
  }

  @Test func `the login command that the sandbox prints works for a user of the file`() async throws
  {
    let folder = try TemporaryFolder()
    try folder.write(SandboxConfig.example, to: "sandbox.json")
    let demo = try DemoProcess(
      ["sandbox", "--port", "0", "--config", folder.file("sandbox.json")], in: folder)
    try await eventually("the sandbox listens") { demo.output.contains("sq-demo rpc") }
    let text = demo.output
    let visit = "--browser sandbox=carol:carol-password"
    #expect(text.contains("with \(visit), without one"), "\(text)")
    #expect(!text.contains("sq-demo files"))
    let start = try #require(text.range(of: "sq-demo login"))
    let end = try #require(text.range(of: "\n\n", range: start.lowerBound..<text.endIndex))
    let words = try #require(ShellWords.split(String(text[start.lowerBound..<end.lowerBound])))
    #expect(words.last == "openid profile email orders.read")
    let login = try await DemoProcess.run(
      Array(words.dropFirst()) + visit.split(separator: " ").map(String.init), in: folder)
    #expect(login.status == 0, "\(login.errors)")
    let whoami = try await DemoProcess.run(["whoami", "--json"], in: folder)
    #expect(whoami.output.contains("carol@example.com"), "\(whoami.output)\(whoami.errors)")

    // The simulated user is alice by default, but the configuration file does not have alice.
    let alice = try await DemoProcess.run(
      Array(words.dropFirst()) + ["--browser", "sandbox", "--account", "a"], in: folder)
    #expect(alice.status != 0)
    let advice = "the visitor is alice, and --browser sandbox=NAME:PASSWORD"
    #expect(alice.errors.contains(advice), "\(alice.errors)")
  }
}
