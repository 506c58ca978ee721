import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct IssuerTests {
  @Test func `an issuer keeps its trailing slash, and endpoint URLs are built without it`()
    async throws
  {
    var options = SandboxOptions()
    options.issuerEndsWithSlash = true
    let sandbox = try await SandboxServer.start(options)
    let peer = SandboxPeer(sandbox: sandbox)
    let issuer = sandbox.issuer.absoluteString
    #expect(issuer.hasPrefix("http://127.0.0.1:") && issuer.hasSuffix("/"))
    let address = issuer.dropLast()
    let metadata = try await peer.get(sandbox.url(.metadata)).json()
    #expect(metadata["issuer"]?.string == issuer)
    for (name, path) in [
      ("authorization_endpoint", "/authorize"), ("token_endpoint", "/token"), ("jwks_uri", "/jwks"),
    ] {
      #expect(metadata[name]?.string == address + path)
    }
    #expect(sandbox.tokenEndpoint.absoluteString == address + "/token")
    #expect(sandbox.driveURL.absoluteString == address + "/drive/v2")
    let redirect = try await peer.redirect(["scope": "openid"])
    #expect(redirect.value("iss") == issuer)
    let code = try #require(redirect.value("code"))
    let form = [
      ("grant_type", "authorization_code"), ("code", code),
      ("redirect_uri", SandboxPeer.redirectURI), ("client_id", "sandbox-app"),
      ("code_verifier", SandboxPeer.verifier),
    ]
    let url = try #require(LoopbackURL(sandbox.tokenEndpoint.absoluteString))
    let answer = try await LoopbackClient.send(
      "POST", url, headers: [("Content-Type", "application/x-www-form-urlencoded")],
      body: Data(SandboxPeer.form(form).utf8))
    #expect(try answer.idToken().claims["iss"]?.string == issuer)
    await sandbox.stop()
  }
}
