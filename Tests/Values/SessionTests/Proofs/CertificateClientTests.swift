import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Clients with a certificate (RFC 8705): their authentication, and the addresses for them.
@Suite(.timeLimit(.minutes(1))) struct CertificateClientTests {
  private static let issuer = "https://id.example"

  /// A server's metadata, with endpoint aliases at another host.
  private static let metadata = #"""
    {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",
     "token_endpoint":"https://id.example/token","revocation_endpoint":"https://id.example/revoke",
     "pushed_authorization_request_endpoint":"https://id.example/par",
     "tls_client_certificate_bound_access_tokens":BINDS,"mtls_endpoint_aliases":ALIASES}
    """#
  private static let aliases = #"""
    {"token_endpoint":"https://mtls.example/token",
     "pushed_authorization_request_endpoint":"https://mtls.example/par",
     "revocation_endpoint":"https://mtls.example/revoke"}
    """#

  private func fixture(
    _ authentication: ClientAuthentication?, binding: TokenBinding? = nil,
    aliases: String = aliases, binds: Bool = true
  ) throws -> OAuthFixture {
    let metadata = Self.metadata.replacing("ALIASES", with: aliases)
      .replacing("BINDS", with: "\(binds)")
    let fixture = OAuthFixture(
      answer: { request in
        switch request.url.path() {
        case "/token": try await ScriptedTransport.token()(request)
        case "/par":
          try await ScriptedTransport.json(
            #"{"request_uri":"urn:x","expires_in":60}"#, status: 201)(request)
        case "/revoke": WebResponse(status: 200)
        default: try await ScriptedTransport.json(metadata)(request)
        }
      },
      browser: { fixture, page in
        let state = page.parameters["state"] ?? fixture.http.forms.compactMap { $0["state"] }.last
        fixture.oauth.handleRedirect(
          "com.example.app:/cb?code=abc&state=\(state ?? "")")
      })
    var configuration = try ClientConfiguration(
      clientID: "client", redirectURI: "com.example.app:/cb", provider: .issuer(Self.issuer),
      clientAuthentication: authentication)
    configuration.tokenBinding = binding
    configuration.pushesAuthorizationRequests = true
    fixture.oauth.register(configuration)
    return fixture
  }

  private func hosts(_ fixture: OAuthFixture) -> [String] {
    fixture.http.requests.filter { $0.method == "POST" }
      .map { "\($0.url.host() ?? "")\($0.url.path())" }
  }

  @Test(arguments: [ClientAuthentication.tlsClientAuth, .selfSignedTLSClientAuth])
  func `a client with a certificate uses the mTLS endpoint aliases, and sends only its client_id`(
    authentication: ClientAuthentication
  ) async throws {
    let fixture = try fixture(authentication)
    try await fixture.oauth.signIn()
    try await fixture.oauth.revoke()
    #expect(hosts(fixture) == ["mtls.example/par", "mtls.example/token", "mtls.example/revoke"])
    for form in fixture.http.forms {
      #expect(form["client_id"] == "client")
      #expect(form["client_secret"] == nil && form["client_assertion"] == nil)
    }
    #expect(fixture.opened.first?.url.host() == "id.example")
  }

  @Test func `a client with a certificate uses the client credentials grant without a secret`()
    async throws
  {
    let fixture = try fixture(.tlsClientAuth)
    try await fixture.oauth.requestAccessTokenAsClient()
    let form = try #require(fixture.http.forms.first)
    #expect(form["grant_type"] == "client_credentials" && form["client_id"] == "client")
    let anonymous = try self.fixture(.publicClient)
    await failure(.invalidConfiguration) { try await anonymous.oauth.requestAccessTokenAsClient() }
    #expect(anonymous.http.forms.isEmpty)
  }

  @Test
  func `certificate-bound tokens are requested at the mTLS endpoint alias, without DPoP proofs`()
    async throws
  {
    let fixture = try fixture(.publicClient, binding: .certificate)
    let token = try await fixture.oauth.signIn()
    #expect(hosts(fixture) == ["mtls.example/par", "mtls.example/token"])
    #expect(!token.isBound && fixture.http.requests.allSatisfy { $0.headers["DPoP"] == nil })
  }

  @Test func `a server whose metadata does not announce certificate-bound tokens is refused`()
    async throws
  {
    let fixture = try fixture(.publicClient, binding: .certificate, binds: false)
    let error = await failure(.signInUnsupported) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("tls_client_certificate_bound_access_tokens") == true)
    #expect(fixture.opened.isEmpty)
  }

  @Test func `if the provider demands tls_client_auth, a client does not send its secret`()
    async throws
  {
    let fixture = try fixture(nil)
    var provider = Provider.issuer(Self.issuer)
    provider.clientAuthentication = .tlsClientAuth
    var configuration = try ClientConfiguration(
      clientID: "client", clientSecret: "s", redirectURI: "com.example.app:/cb", provider: provider)
    configuration.pushesAuthorizationRequests = true
    fixture.oauth.register(configuration)
    try await fixture.oauth.signIn()
    #expect(hosts(fixture) == ["mtls.example/par", "mtls.example/token"])
    #expect(fixture.http.forms.allSatisfy { $0["client_secret"] == nil })
    #expect(fixture.http.requests.allSatisfy { $0.headers["Authorization"] == nil })
  }

  @Test func `a client without a certificate does not use the mTLS endpoint aliases`() async throws
  {
    let fixture = try fixture(nil)
    try await fixture.oauth.signIn()
    #expect(hosts(fixture) == ["id.example/par", "id.example/token"])
  }

  @Test(arguments: ["{}", "null", "[]", #"{"token_endpoint":""}"#, #"{"token_endpoint":null}"#])
  func `a server without mTLS endpoint aliases gets the requests at its usual endpoints`(
    aliases: String
  ) async throws {
    let fixture = try fixture(.tlsClientAuth, aliases: aliases)
    try await fixture.oauth.signIn()
    #expect(hosts(fixture) == ["id.example/par", "id.example/token"])
  }

  @Test(arguments: [
    #"{"token_endpoint":"http://mtls.example/token"}"#, #"{"token_endpoint":1}"#,
    #"{"token_endpoint":"mtls.example"}"#,
  ])
  func `an invalid or insecure mTLS endpoint alias ends the sign-in before the browser opens`(
    aliases: String
  ) async throws {
    let fixture = try fixture(.tlsClientAuth, aliases: aliases)
    #expect(await failure { try await fixture.oauth.signIn() } != nil)
    #expect(hosts(fixture).isEmpty && fixture.opened.isEmpty)
  }

  @Test func `without a certificate, the SDK's own transport fails before the browser opens`()
    async throws
  {
    let fixture = try fixture(.tlsClientAuth)
    fixture.oauth.environment.transport = CurlTransport(configuration: .init())
    let configuration = try ClientConfiguration(
      clientID: "client", redirectURI: "com.example.app:/cb",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token"),
      clientAuthentication: .tlsClientAuth)
    fixture.oauth.register(configuration)
    let error = await failure(.invalidConfiguration) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("clientCertificate") == true && fixture.opened.isEmpty)
  }
}
