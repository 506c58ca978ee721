import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct ClientConfigurationTests {
  static func make(
    id: String = "id", secret: String? = "s", redirect: String = "http://127.0.0.1/cb",
    scope: String? = nil, provider: Provider = .sequencing
  ) throws(SQOAuthError) -> ClientConfiguration {
    try ClientConfiguration(
      clientID: id, clientSecret: secret, redirectURI: redirect, scope: scope, provider: provider)
  }

  @Test
  func `by default, the timeouts are 60 s and 300 s, no scope is required, and PKCE is required`()
    throws
  {
    let configuration = try Self.make()
    #expect(configuration.timeout == .seconds(60))
    #expect(configuration.signInTimeout == .seconds(300))
    #expect(configuration.requiredScopes.isEmpty)
    #expect(!configuration.acceptsServersWithoutPKCE)
    #expect(configuration.provider == .sequencing)
  }

  @Test func `a missing client identifier is rejected at once`() {
    #expect(
      failure(.invalidConfiguration) { try Self.make(id: "") }?.message.contains("client") == true)
  }

  @Test(arguments: ["", "http://app.example/cb", "no uri"])
  func `a missing or unusable redirect URI is rejected at once`(redirect: String) {
    #expect(
      failure(.invalidConfiguration) { try Self.make(redirect: redirect) }?.message
        .contains("redirect") == true)
  }

  @Test(arguments: [
    Provider.issuer("http://id.example"), .issuer(""), .issuer("id.example"),
    .issuer("https://id.example?x=1"), .issuer("https://id.example#x"),
    .endpoints(authorization: "http://s.example/a", token: "https://s.example/t"),
    .endpoints(authorization: "https://s.example/a", token: "http://s.example/t"),
    .endpoints(authorization: "https://s.example/a", token: ""),
    .endpoints(authorization: "", token: "https://s.example/t"),
    .endpoints(
      authorization: "https://s.example/a", token: "https://s.example/t",
      refresh: "http://s.example/r"),
    .endpoints(
      authorization: "https://s.example/a", token: "https://s.example/t",
      revocation: "http://s.example/r"),
    .endpoints(authorization: "https://u@s.example/a", token: "https://s.example/t"),
    .endpoints(authorization: "https://s.example/a#f", token: "https://s.example/t"),
    Provider(name: "f", baseURL: "", authorizationEndpoint: "/a", tokenEndpoint: "/t"),
  ])
  func `an unusable provider is rejected at once`(provider: Provider) {
    let error = failure { try Self.make(provider: provider) }
    #expect(error?.code == .insecureEndpoint || error?.code == .invalidConfiguration)
  }

  @Test func `an empty secret counts as no secret`() throws {
    #expect(try Self.make(secret: "").clientSecret == nil)
    #expect(try Self.make(secret: nil).clientSecret == nil)
  }

  @Test(arguments: [ClientAuthentication.basic, .basicUnescaped])
  func `an empty secret is sent if the app chooses Basic`(method: ClientAuthentication) throws {
    let provider = Provider.endpoints(token: "https://id.example/token")
    let configuration = try ClientConfiguration(
      clientID: "id", clientSecret: "", provider: provider, clientAuthentication: method)
    let credentials = ClientCredentials(
      id: "id", secret: configuration.clientSecret,
      authentication: try configuration.authentication(supported: nil))
    let request = credentials.form(
      [], to: try #require(URL(string: "https://id.example/token")), timeout: .seconds(1))
    #expect(request.headers["Authorization"] == "Basic " + Data("id:".utf8).base64EncodedString())
    let error = failure(.invalidConfiguration) {
      try ClientConfiguration(clientID: "id", provider: provider, clientAuthentication: method)
    }
    #expect(error?.message.contains("it may be an empty text") == true)
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "id", clientSecret: "", provider: provider, clientAuthentication: .post)
    }
  }

  @Test func `the scope stays as written, and an empty one counts as none`() throws {
    #expect(try Self.make(scope: "demo,external").scope == "demo,external")
    #expect(try Self.make(scope: "").scope == nil)
  }
}
