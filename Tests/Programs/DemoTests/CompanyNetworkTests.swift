import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

private let programs = ProgramRequirement(programs: ["nginx", "openssl", "sh", "python3"])

/// The program in a network where only a proxy reaches the servers, and a private authority signs
/// the servers' certificates.
@Suite(.timeLimit(.minutes(2)), .requires(programs)) struct `The demo on a company's network` {
  private func proxied(_ network: CompanyNetwork) -> [String] {
    network.authority + ["--proxy", "http://\(network.proxy.authority)"]
  }

  @Test func `a sign-in, a refresh, calls and a revocation all go through the proxy`() async throws
  {
    let network = try await CompanyNetwork()
    let options = proxied(network)
    let login = try await network.login(options)
    #expect(login.status == 0, "\(login.errors)\(network.front.errors)\(network.proxy.errors)")
    try await network.expireToken()
    let token = try await network.run(["token"] + options)
    #expect(token.status == 0 && token.lines.count == 1, "\(token.errors)")
    for call in [["GET", CompanyNetwork.api], [CompanyNetwork.api, "--account", "default"]] {
      let words = call.contains("--account") ? call : call + ["--account", "default"]
      let answer = try await network.run(["call"] + words + options)
      #expect(answer.status == 0 && answer.output.contains("alice"), "\(answer.errors)")
    }
    let discovery = try await network.run(["discover", CompanyNetwork.api] + options)
    #expect((discovery.output + discovery.errors).contains("a challenge"), "\(discovery.errors)")
    let revocation = try await network.run(["revoke"] + options)
    #expect(revocation.output == "Revoked.\n", "\(revocation.errors)")
    let connections = try await network.proxy.requests(atLeast: 6)
    #expect(connections.allSatisfy { $0 == "CONNECT other.example:443 200" })
    let requests = network.sandbox.requests(to: .token) + network.sandbox.requests(to: .me)
    let name = "sq-demo/"
    #expect(requests.count >= 4)
    #expect(
      requests.allSatisfy {
        $0.header("user-agent")?.hasPrefix(name) == true
          && $0.header("user-agent")?.contains(" SequencingOAuth/") == true
      })
    await network.sandbox.stop()
  }

  @Test(arguments: [
    ["https_proxy"], ["HTTPS_PROXY"], ["all_proxy"], ["ALL_PROXY"],
  ])
  func `the demo uses the proxy in https_proxy or all_proxy, in lower or upper case`(
    names: [String]
  ) async throws {
    let network = try await CompanyNetwork()
    var environment = ["SSL_CERT_FILE": network.certificates.path("ca.pem")]
    for name in names { environment[name] = network.proxy.authority }
    let login = try await network.login([], environment)
    #expect(login.status == 0, "\(login.errors)")
    let requests = try await network.proxy.requests(atLeast: 1)
    #expect(requests == ["CONNECT other.example:443 200"])
    // An option overrides the proxy variables, and so does no_proxy.
    for (words, more) in [(["--proxy", "none"], [:]), ([], ["no_proxy": "other.example"])] {
      let direct = try await network.login(words, environment.merging(more) { $1 })
      #expect(direct.errors.contains("error: connection_failed: the host of other.example:443"))
    }
    #expect(network.proxy.requests.count == 1)
    await network.sandbox.stop()
  }

  @Test(arguments: ["http_proxy", "HTTP_PROXY"])
  func `a proxy for http is used neither for https servers nor for servers on this computer`(
    name: String
  ) async throws {
    let network = try await CompanyNetwork()
    let variable = [name: network.proxy.authority]
    let address = network.sandbox.issuer.absoluteString + "/api/me"
    let direct = try await network.run(["discover", address], variable)
    #expect((direct.output + direct.errors).contains("a challenge"), "\(direct.errors)")
    #expect(try await network.login(network.authority, variable).status == 1)
    #expect(network.proxy.requests.isEmpty)
    await network.sandbox.stop()
  }

  @Test
  func `a login through a TLS-inspecting proxy fails without the proxy's certificate authority`()
    async throws
  {
    let network = try await CompanyNetwork(opensConnections: true)
    let proxy = ["--proxy", network.proxy.authority]
    let refused = try await network.login(proxy)
    #expect(refused.status == 1)
    #expect(
      refused.errors.contains("error: tls_failed: no trusted TLS connection to other.example"))
    #expect(refused.errors.contains("the proxy that decrypts connections to the server: --cacert"))
    let login = try await network.login(proxy + network.authority)
    #expect(login.status == 0, "\(login.errors)")
    await network.sandbox.stop()
  }

  @Test func `a TLS connection to the proxy fails if the proxy's certificate is not trusted`()
    async throws
  {
    let network = try await CompanyNetwork(secureProxy: true)
    let proxy = ["--proxy", "https://\(network.proxy.authority)"]
    let login = try await network.login(proxy + network.authority)
    #expect(login.status == 0, "\(login.errors)\(network.proxy.errors)")
    let requests = try await network.proxy.requests(atLeast: 1)
    #expect(requests == ["CONNECT other.example:443 200"])
    let refused = try await network.login(proxy)
    #expect(
      refused.errors.contains("error: tls_failed: no trusted TLS connection to the proxy towards"),
      "\(refused.errors)")
    #expect(refused.errors.contains("\nIn sq-demo, name a file with the authority of the proxy's"))
    await network.sandbox.stop()
  }

  @Test func `the proxy's password is read from the environment and never printed`() async throws {
    let network = try await CompanyNetwork(credentials: "alice:c4n/a@r:y")
    let proxy = network.authority + ["--proxy", "http://alice@\(network.proxy.authority)"]
    let login = try await network.login(
      proxy + ["--verbose"], ["SQ_PROXY_PASSWORD": "c4n/a@r:y"])
    #expect(login.status == 0, "\(login.errors)")
    #expect(!(login.output + login.errors).contains("c4n"))
    let url = "http://alice:c4n%2Fa%40r%3Ay@\(network.proxy.authority)"
    let variable = try await network.login(network.authority, ["https_proxy": url])
    #expect(variable.status == 0, "\(variable.errors)")
    for (words, environment) in [
      (proxy, [:]), (proxy, ["SQ_PROXY_PASSWORD": "canary"]),
      (network.authority, ["https_proxy": "http://alice:canary@\(network.proxy.authority)"]),
    ] {
      let refused = try await network.login(words, environment)
      #expect(refused.errors.contains("error: connection_failed: the proxy towards other.example"))
      #expect(refused.errors.contains("HTTP status 407"))
      #expect(refused.errors.contains("environment variable SQ_PROXY_PASSWORD.\n"))
      #expect(!refused.errors.contains("canary"))
    }
    await network.sandbox.stop()
  }

  @Test func `a gateway that asks for a certificate gets it with every request`() async throws {
    let network = try await CompanyNetwork(demandsCertificate: true)
    let pair = [
      "--client-cert", network.certificates.path("client.pem"), "--client-cert-key",
      network.certificates.path("client.key"),
    ]
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: network.certificates.path("client.key"))
    #expect(try await network.login(proxied(network)).status == 1)
    #expect(network.sandbox.requests(to: .token).isEmpty)
    let login = try await network.login(proxied(network) + pair)
    #expect(login.status == 0, "\(login.errors)")
    let call = try await network.run(
      ["call", CompanyNetwork.api, "--account", "default"] + proxied(network) + pair)
    #expect(call.status == 0, "\(call.errors)")
    let requests = network.sandbox.requests(to: .token) + network.sandbox.requests(to: .me)
    #expect(requests.count == 2)
    #expect(requests.allSatisfy { $0.header("x-client-name") == "CN=client" })
    await network.sandbox.stop()
  }

  @Test func `the error of an ended session suggests a command that has the network options`()
    async throws
  {
    let network = try await CompanyNetwork()
    #expect(try await network.login(proxied(network)).status == 0)
    try await network.expireToken()
    network.sandbox.revokeEverything()
    let token = try await network.run(["token"] + proxied(network))
    #expect(token.status == 1)
    #expect(
      token.errors.contains(
        "--cacert \(network.certificates.path("ca.pem")) --proxy http://\(network.proxy.authority)'"
      ),
      "\(token.errors)")
    await network.sandbox.stop()
  }
}
