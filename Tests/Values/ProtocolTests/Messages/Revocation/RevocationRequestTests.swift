import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// RFC 7009, section 2.1, and the different requests of some providers.
@Suite struct RevocationRequestTests {
  static let token = SQToken(accessToken: "C4N4RY-access", refreshToken: "C4N4RY-refresh")
  static let standard = Provider.endpoints(
    authorization: "https://s.example/a", token: "https://s.example/t",
    revocation: "https://s.example/v")

  static func all(
    _ provider: Provider = standard, token: SQToken = token, secret: String? = nil,
    _ authentication: ClientAuthentication? = nil
  ) throws -> [RevocationRequest] {
    var configuration = try ClientConfiguration(
      clientID: "app", clientSecret: secret, redirectURI: "http://127.0.0.1/cb",
      provider: provider, clientAuthentication: authentication)
    configuration.timeout = .seconds(7)
    return try requests(for: token, of: configuration, try #require(configuration.metadata))
  }

  static func requests(
    for token: SQToken, of configuration: ClientConfiguration, _ metadata: ProviderMetadata
  ) throws -> [RevocationRequest] {
    let client = RegisteredClient(
      configuration: configuration, environment: ClientEnvironment(), metadata: metadata)
    return try Revocation(client: client).requests(for: token)
  }

  @Test func `the refresh token is revoked first, then the access token`() throws {
    let requests = try Self.all().map { $0.httpRequest() }
    #expect(
      try requests.map(TokenRequestTests.body) == [
        "token=C4N4RY-refresh&token_type_hint=refresh_token&client_id=app",
        "token=C4N4RY-access&token_type_hint=access_token&client_id=app",
      ])
    for request in requests {
      #expect(request.method == "POST")
      #expect(request.url.absoluteString == "https://s.example/v")
      #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
      #expect(request.headers["Authorization"] == nil)
      #expect(request.timeout == .seconds(7))
    }
  }

  @Test func `without a refresh token, only the access token is revoked`() throws {
    let requests = try Self.all(token: SQToken(accessToken: "a"))
    #expect(requests.map(\.kind) == [.accessToken])
  }

  @Test func `the client authenticates as at the token endpoint`() throws {
    let basic = try #require(try Self.all(secret: "s3cret").first?.httpRequest())
    #expect(
      basic.headers["Authorization"] == "Basic \(Data("app:s3cret".utf8).base64EncodedString())")
    #expect(
      try TokenRequestTests.body(basic) == "token=C4N4RY-refresh&token_type_hint=refresh_token")
    let post = try #require(try Self.all(secret: "s3cret", .post).first?.httpRequest())
    #expect(post.headers["Authorization"] == nil)
    #expect(
      try TokenRequestTests.body(post)
        == "token=C4N4RY-refresh&token_type_hint=refresh_token&client_id=app&client_secret=s3cret")
  }

  /// RFC 8414, section 2: the endpoint may have its own methods.
  @Test(
    arguments: [
      (#"["client_secret_post"]"#, nil, ClientAuthentication.post),
      (nil, #"["client_secret_post"]"#, .post),
      (#"["client_secret_basic"]"#, #"["client_secret_post"]"#, .basic), (nil, nil, .basic),
    ] as [(String?, String?, ClientAuthentication)])
  func `the revocation endpoint's list of methods is preferred to the token endpoint's`(
    own: String?, general: String?, expected: ClientAuthentication
  ) throws {
    let metadata = try ProviderMetadataTests.read(
      ProviderMetadataTests.document([
        "revocation_endpoint_auth_methods_supported": own,
        "token_endpoint_auth_methods_supported": general,
      ]))
    let configuration = try ClientConfiguration(
      clientID: "app", clientSecret: "s", redirectURI: "http://127.0.0.1/cb",
      provider: .issuer(ProviderMetadataTests.issuer))
    let requests = try Self.requests(for: Self.token, of: configuration, metadata)
    #expect(requests.map(\.client.authentication) == [expected, expected])
  }

  @Test func `a revocation at a provider without a revocation endpoint is an error`() {
    let provider = Provider.endpoints(
      authorization: "https://s.example/a", token: "https://s.example/t")
    failure(.revocationUnsupported) { try Self.all(provider) }
    failure(.revocationUnsupported) { try Self.all(.sequencing) }
  }

  @Test func `Google gets the standard request at its own address`() throws {
    let requests = try Self.all(.google, secret: "s", .post)
    #expect(requests.count == 2)
    #expect(requests[0].httpRequest().url.absoluteString == "https://oauth2.googleapis.com/revoke")
  }

  @Test func `a revocation at Facebook is a DELETE request with the access token in the header`()
    throws
  {
    let requests = try Self.all(.facebook, secret: "s")
    #expect(requests.count == 1)
    let request = requests[0].httpRequest()
    #expect(request.method == "DELETE")
    // The token is not in the address, which would be written to logs.
    #expect(request.url.absoluteString == "https://graph.facebook.com/me/permissions")
    #expect(request.headers.values(for: "Authorization") == ["Bearer C4N4RY-access"])
    guard case .empty = request.body else {
      Issue.record("the request has a body")
      return
    }
    #expect(request.timeout == .seconds(7))
  }

  @Test func `a logout request to Keycloak has the client's credentials and the refresh token`()
    throws
  {
    let provider = Provider.keycloak(
      baseURL: "https://id.example/auth", realm: "shoot", revokesByLogout: true)
    let requests = try Self.all(provider)
    #expect(requests.count == 1)
    let request = requests[0].httpRequest()
    #expect(request.method == "POST")
    #expect(
      request.url.absoluteString
        == "https://id.example/auth/realms/shoot/protocol/openid-connect/logout")
    #expect(try TokenRequestTests.body(request) == "refresh_token=C4N4RY-refresh&client_id=app")
    let withSecret = try #require(try Self.all(provider, secret: "s", .post).first)
    #expect(
      try TokenRequestTests.body(withSecret.httpRequest())
        == "refresh_token=C4N4RY-refresh&client_id=app&client_secret=s")
    failure(.revocationUnsupported) { try Self.all(provider, token: SQToken(accessToken: "a")) }
    // Without `revokesByLogout`, Keycloak gets the standard request.
    let standard = try Self.all(.keycloak(baseURL: "https://id.example", realm: "r"))
    #expect(standard.count == 2)
    #expect(standard[0].endpoint.absoluteString.hasSuffix("/protocol/openid-connect/revoke"))
  }

  @Test func `no printed request shows a token or a secret`() throws {
    for provider in [Self.standard, .facebook] {
      for request in try Self.all(provider, secret: "C4N4RY-secret") {
        PrintingTests.expectSilence(request)
        PrintingTests.expectSilence(request.httpRequest())
        PrintingTests.expectSilence(request.client)
        PrintingTests.expectSilence(request.secrets)
      }
    }
  }
}
