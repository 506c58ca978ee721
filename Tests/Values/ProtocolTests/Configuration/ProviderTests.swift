import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth

@Suite struct ProviderTests {
  static func metadata(_ provider: Provider) throws -> ProviderMetadata {
    try #require(
      try ClientConfiguration(
        clientID: "id", redirectURI: "http://127.0.0.1/cb", provider: provider
      ).metadata)
  }

  /// Google's endpoints in the AeroGear cookbook, with and without slashes between base and path.
  @Test(arguments: ["https://accounts.google.com", "https://accounts.google.com/"], ["", "/"])
  func `a base URL and an endpoint path are joined by one slash`(base: String, slash: String) throws
  {
    let metadata = try Self.metadata(
      Provider(
        name: "Google", baseURL: base, authorizationEndpoint: slash + "o/oauth2/auth",
        tokenEndpoint: slash + "o/oauth2/token", revocationEndpoint: slash + "o/oauth2/revoke"))
    #expect(
      metadata.authorizationEndpoint?.absoluteString == "https://accounts.google.com/o/oauth2/auth")
    #expect(metadata.tokenEndpoint.absoluteString == "https://accounts.google.com/o/oauth2/token")
    #expect(
      metadata.revocationEndpoint?.absoluteString == "https://accounts.google.com/o/oauth2/revoke")
    #expect(metadata.refreshEndpoint == metadata.tokenEndpoint)
  }

  @Test func `the path of a base URL is kept before the endpoint paths`() throws {
    let metadata = try Self.metadata(
      Provider(
        name: "x", baseURL: "https://s.example/realms/a//", authorizationEndpoint: "/auth",
        tokenEndpoint: "token?x=1", refreshEndpoint: "token?q=2"))
    #expect(metadata.authorizationEndpoint?.absoluteString == "https://s.example/realms/a/auth")
    #expect(metadata.tokenEndpoint.absoluteString == "https://s.example/realms/a/token?x=1")
    #expect(metadata.refreshEndpoint.absoluteString == "https://s.example/realms/a/token?q=2")
  }

  /// Facebook's endpoints are on two hosts.
  @Test(arguments: ["", "https://other.example"])
  func `absolute endpoints stay as they are`(base: String) throws {
    let metadata = try Self.metadata(
      Provider(
        name: "Facebook", baseURL: base,
        authorizationEndpoint: "https://www.facebook.com/dialog/oauth",
        tokenEndpoint: "https://graph.facebook.com/oauth/access_token"))
    #expect(
      metadata.authorizationEndpoint?.absoluteString == "https://www.facebook.com/dialog/oauth")
    #expect(
      metadata.tokenEndpoint.absoluteString == "https://graph.facebook.com/oauth/access_token")
    #expect(metadata.revocationEndpoint == nil)
  }

  @Test func `a custom provider with Facebook's endpoints gets none of the preset's quirks`() throws
  {
    let provider = Provider(
      name: "mine", baseURL: "", authorizationEndpoint: "https://www.facebook.com/dialog/oauth",
      tokenEndpoint: "https://graph.facebook.com/oauth/access_token")
    #expect(provider.tokenResponseQuirks == [])
    #expect(provider.clientAuthentication == nil)
    #expect(provider.authorizationParameters.isEmpty && provider.tokenParameters.isEmpty)
  }

  @Test func `endpoints given by hand stay as they are`() throws {
    let metadata = try Self.metadata(
      .endpoints(
        authorization: "https://s.example/a?x=1", token: "https://s.example/t",
        refresh: "https://s.example/r", revocation: "https://s.example/v",
        issuer: "https://s.example"))
    #expect(metadata.authorizationEndpoint?.absoluteString == "https://s.example/a?x=1")
    #expect(metadata.tokenEndpoint.absoluteString == "https://s.example/t")
    #expect(metadata.refreshEndpoint.absoluteString == "https://s.example/r")
    #expect(metadata.revocationEndpoint?.absoluteString == "https://s.example/v")
    #expect(metadata.issuer == "https://s.example")
  }

  @Test func `a provider's origins are those of all endpoints that the app configures`() {
    func url(_ name: String) -> String { "https://\(name).example/x" }
    let names = [
      "authorization", "token", "refresh", "revocation", "device", "par", "introspection", "jwks",
      "userinfo", "logout", "issuer",
    ]
    let provider = Provider.endpoints(
      authorization: url("authorization"), token: url("token"), refresh: url("refresh"),
      revocation: url("revocation"), deviceAuthorization: url("device"),
      pushedAuthorization: url("par"), introspection: url("introspection"), jwks: url("jwks"),
      userInfo: url("userinfo"), endSession: url("logout"), issuer: url("issuer"))
    #expect(
      Set(provider.origins.map(\.description))
        == Set(names.map { "https://\($0).example:443" }))
  }
}
