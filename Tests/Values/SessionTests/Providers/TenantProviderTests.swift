import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Clients of GitLab, Okta and Auth0, at servers that answer as their documentation says.
@Suite("At GitLab, Okta and Auth0", .timeLimit(.minutes(1))) struct TenantProviderTests {
  typealias Place = (provider: Provider, issuer: String, root: String, needsMetadata: Bool)

  static let places: [Place] = [
    (.gitLab, "https://gitlab.com", "gitlab.com/oauth", false),
    (
      .gitLab(baseURL: "https://example.com/gitlab/"), "https://example.com/gitlab",
      "example.com/gitlab/oauth", false
    ),
    (
      .okta(domain: "example.okta.com"), "https://example.okta.com/oauth2/default",
      "example.okta.com/oauth2/default/v1", true
    ),
    (
      .okta(domain: "https://example.okta.com/", authorizationServer: nil),
      "https://example.okta.com", "example.okta.com/oauth2/v1", true
    ),
    (
      .auth0(domain: "example.eu.auth0.com", audience: "https://api.example.com"),
      "https://example.eu.auth0.com/", "example.eu.auth0.com/oauth", true
    ),
  ]

  private func party(_ place: Place) throws -> PlayedProvider {
    let root = place.root
    let keys = place.needsMetadata ? "\(root)/keys" : "\(root)/discovery/keys"
    return try PlayedProvider { party in
      var answers: [String: PlayedProvider.Answer] = [
        "POST \(root)/token": party.tokens { count in
          let idToken = try await party.idToken(["iss": .string(place.issuer)])
          return
            #"{"access_token":"T\#(count)","token_type":"Bearer","expires_in":7200,"scope":"openid offline_access","refresh_token":"R\#(count)","id_token":"\#(idToken)"}"#
        },
        "POST \(root)/revoke": { request in
          let form = ScriptedTransport.form(of: request)
          // Auth0 and others revoke only refresh tokens.
          guard form?["token_type_hint"] == "refresh_token" else {
            return try await ScriptedTransport.json(
              #"{"error":"unsupported_token_type"}"#, status: 400)(request)
          }
          return WebResponse(status: 200)
        },
        "GET \(keys)": party.keys(),
      ]
      let trimmed = place.issuer.hasSuffix("/") ? String(place.issuer.dropLast()) : place.issuer
      let document =
        #"{"issuer":"\#(place.issuer)","authorization_endpoint":"https://\#(root)/authorize","token_endpoint":"https://\#(root)/token","revocation_endpoint":"https://\#(root)/revoke","jwks_uri":"https://\#(root)/keys","code_challenge_methods_supported":["S256"],"id_token_signing_alg_values_supported":["HS256","RS256"],"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"]}"#
      if place.needsMetadata {
        answers["GET \(trimmed.dropFirst("https://".count))/.well-known/openid-configuration"] =
          ScriptedTransport.json(document)
      }
      return answers
    }
  }

  @Test(arguments: [
    Provider.gitLab(baseURL: "https://gitlab.example.com?x"),
    .gitLab(baseURL: "https://gitlab.example.com/#x"),
    .keycloak(baseURL: "https://id.example.com/?x=/", realm: "r"),
  ])
  func `a provider's address with a query or a fragment is rejected`(provider: Provider) {
    let error = failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "id", redirectURI: "http://127.0.0.1/callback", provider: provider)
    }
    #expect(error?.message.contains("is the address of a page") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: places.indices)
  func `a user signs in, and the tokens are refreshed and revoked`(index: Int) async throws {
    let place = Self.places[index]
    let party = try party(place)
    try party.fixture.register(
      secret: nil, scope: "openid offline_access", provider: place.provider)
    let (first, second) = try await party.signInAndRefresh(after: 7_200)
    #expect(first.idToken?.issuer == place.issuer)
    #expect(second.accessToken == "T2" && second.refreshToken == "R2")
    #expect(party.page?.url.absoluteString.hasPrefix("https://\(place.root)/authorize?") == true)
    let audience = index == 4 ? "https://api.example.com" : nil
    #expect(party.page?.parameters["audience"] == audience)
    try await party.fixture.oauth.revoke()
    let forms = party.requests(to: "\(place.root)/revoke").compactMap(ScriptedTransport.form)
    #expect(forms.map { $0["token"] } == ["R2", "T2"])
    #expect(party.fixture.oauth.currentToken == nil)
  }

  /// The members of Okta's two documents, as its documentation shows them, shortened.
  private static let oktaMembers =
    #""issuer":"https://example.okta.com","authorization_endpoint":"https://example.okta.com/oauth2/v1/authorize","token_endpoint":"https://example.okta.com/oauth2/v1/token","registration_endpoint":"https://example.okta.com/oauth2/v1/clients","jwks_uri":"https://example.okta.com/oauth2/v1/keys","response_types_supported":["code","id_token","code id_token"],"response_modes_supported":["query","fragment","form_post","okta_post_message"],"grant_types_supported":["authorization_code","implicit","refresh_token","password"],"subject_types_supported":["public"],"scopes_supported":["openid","email","profile","address","phone","offline_access","groups"],"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","client_secret_jwt","private_key_jwt","none"],"claims_supported":["iss","ver","sub","aud","iat","exp","jti","auth_time","amr","idp","nonce","name"],"code_challenge_methods_supported":["S256"],"introspection_endpoint":"https://example.okta.com/oauth2/v1/introspect","introspection_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],"revocation_endpoint":"https://example.okta.com/oauth2/v1/revoke","revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],"end_session_endpoint":"https://example.okta.com/oauth2/v1/logout","request_parameter_supported":true,"request_object_signing_alg_values_supported":["HS256","RS256","ES256"]"#

  /// Only one of the two documents names the UserInfo endpoint and the algorithms of ID tokens.
  @Test func `at Okta's own server the user's claims come from UserInfo`() async throws {
    let root = "example.okta.com"
    let party = try PlayedProvider { party in
      let userInfo = #","userinfo_endpoint":"https://\#(root)/oauth2/v1/userinfo""#
      let algorithms = #","id_token_signing_alg_values_supported":["RS256"]"#
      return [
        "GET \(root)/.well-known/oauth-authorization-server": ScriptedTransport.json(
          "{\(Self.oktaMembers)}"),
        "GET \(root)/.well-known/openid-configuration": ScriptedTransport.json(
          "{\(Self.oktaMembers)\(userInfo)\(algorithms)}"),
        "GET \(root)/oauth2/v1/keys": party.keys(),
        "GET \(root)/oauth2/v1/userinfo": ScriptedTransport.json(
          #"{"sub":"user","name":"Alice","updated_at":1311280970}"#),
        "POST \(root)/oauth2/v1/token": party.tokens { _ in
          let idToken = try await party.idToken(["iss": "https://example.okta.com"])
          return
            #"{"token_type":"Bearer","expires_in":3600,"access_token":"T","scope":"openid profile","id_token":"\#(idToken)"}"#
        },
      ]
    }
    try party.fixture.register(
      secret: nil, scope: "openid profile",
      provider: .okta(domain: root, authorizationServer: nil))
    try await party.fixture.oauth.signIn()
    #expect(try await party.fixture.oauth.userInfo().name == "Alice")
    // The sign-in has read both documents, and nothing is asked again.
    for name in ["oauth-authorization-server", "openid-configuration"] {
      #expect(party.requests(to: "\(root)/.well-known/\(name)").count == 1)
    }
  }

  @Test func `metadata of Auth0 whose issuer has no trailing slash is rejected`() async throws {
    let place = Self.places[4]
    let party = try party((place.provider, "https://example.eu.auth0.com", place.root, true))
    try party.fixture.register(secret: nil, scope: "openid", provider: place.provider)
    await failure(.issuerMismatch) { try await party.fixture.oauth.signIn() }
    #expect(party.fixture.opened.isEmpty)
  }

  static let faults: [(Provider, String)] = [
    (.okta(domain: ""), "host name"), (.okta(domain: "a b"), "host name"),
    (.okta(domain: "example.okta.com/oauth2/default"), "without a path"),
    (.okta(domain: "example-admin.okta.com"), "-admin"),
    (.okta(domain: "example.okta.com", authorizationServer: ""), "is empty"),
    (.okta(domain: "user@example.okta.com"), "host name"),
    (.auth0(domain: "example.auth0.com/authorize"), "without a path"),
    (.auth0(domain: "http://example.auth0.com"), "host name"),
    (.gitHub(host: "github.example.com/api"), "without a path"),
  ]

  @Test(arguments: faults.indices)
  func `an invalid server name is refused, and the error says why`(index: Int) {
    let (provider, words) = Self.faults[index]
    let error = failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "id", redirectURI: "http://127.0.0.1/cb", provider: provider)
    }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
