import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// A sandbox behind an nginx that lets only clients with a certificate through.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxCertificateTests {
  private let certificates: Certificates

  init() async throws {
    certificates = try await Certificates()
  }

  /// Runs nginx in front of a sandbox.
  private func running(_ body: (SandboxServer, UInt16) async throws -> Void) async throws {
    let sandbox = try await SandboxServer.start()
    let nginx = try SecureFront(
      before: sandbox, certificates, certificate: "server", demandsCertificate: true)
    try await body(sandbox, nginx.port)
    withExtendedLifetime(nginx) {}
    await sandbox.stop()
  }

  private func client(
    at port: UInt16, _ sandbox: SandboxServer, certificate: String?
  ) throws -> SQOAuth {
    var transport = HTTPTransportConfiguration.direct
    transport.additionalAuthorities = try certificates.data("ca.pem")
    if let certificate {
      transport.clientCertificate = .init(
        chain: try certificates.data("\(certificate).pem"),
        privateKey: try certificates.data(certificate == "expired" ? "server.key" : "client.key"))
    }
    let address = "https://127.0.0.1:\(port)"
    let oauth = SQOAuth()
    oauth.environment.transport = CurlTransport(configuration: transport)
    let visitor = SandboxVisitor()
    oauth.environment.userAgent = CustomUserAgent { url, signIn in
      signIn.handleRedirect(try await visitor.visit(url).redirect)
    }
    var configuration = try ClientConfiguration(
      clientID: SandboxClient.app.id, redirectURI: "com.example.sandbox:/callback", scope: "demo",
      provider: .endpoints(
        authorization: sandbox.authorizationEndpoint.absoluteString, token: address + "/token",
        revocation: address + "/revoke", pushedAuthorization: address + "/par"),
      clientAuthentication: .tlsClientAuth)
    configuration.pushesAuthorizationRequests = true
    configuration.tokenBinding = .certificate
    oauth.register(configuration)
    return oauth
  }

  @Test func `every request of a sign-in and to the API is sent with the client certificate`()
    async throws
  {
    try await running { sandbox, port in
      let oauth = try client(at: port, sandbox, certificate: "client")
      try await oauth.signIn()
      try await oauth.refresh()
      try oauth.allowTokens(at: "https://127.0.0.1:\(port)")
      let url = try #require(URL(string: "https://127.0.0.1:\(port)/api/me"))
      #expect(try await oauth.send(WebRequest(url: url)).status == 200)
      try await oauth.revoke()
      for endpoint in [SandboxEndpoint.pushedAuthorization, .token, .me, .revocation] {
        let requests = sandbox.requests(to: endpoint)
        #expect(!requests.isEmpty, "\(endpoint)")
        #expect(requests.allSatisfy { $0.header("x-client-name") == "CN=client" })
      }
    }
  }

  /// Without a certificate, the client sends nothing.
  ///
  /// With an expired certificate, nginx completes the handshake and answers the request with status
  /// 400.
  @Test(
    arguments: [
      (nil, .invalidConfiguration, nil), ("expired", .invalidResponse, 400),
    ] as [(String?, SQOAuthError.Code, Int?)])
  func `a client without a certificate or with an expired certificate gets no token`(
    certificate: String?, code: SQOAuthError.Code, status: Int?
  ) async throws {
    try await running { sandbox, port in
      let oauth = try client(at: port, sandbox, certificate: certificate)
      let error = await failure(code) { try await oauth.signIn() }
      #expect(error?.status == status && oauth.currentToken == nil)
      for endpoint in [SandboxEndpoint.pushedAuthorization, .token] {
        #expect(sandbox.requests(to: endpoint).isEmpty)
      }
    }
  }
}
