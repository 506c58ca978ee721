import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// A client of Microsoft Entra ID, at servers that answer as Microsoft's documentation says.
@Suite("At Microsoft", .timeLimit(.minutes(1))) struct MicrosoftTests {
  private static let host = "login.microsoftonline.com"
  private static let tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490"
  private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"

  private static func issuer(_ tenant: String) -> String { "https://\(host)/\(tenant)/v2.0" }

  /// Creates servers whose addresses contain the tenant.
  ///
  /// `claims` changes the ID token, and `key` adds members to the published key.
  private func party(
    _ tenant: String = "common", claims: [String: JSONValue?] = [:],
    key: [String: JSONValue] = ["issuer": .string(issuer(IssuerTemplate.placeholder))]
  ) throws -> PlayedProvider {
    let party = try PlayedProvider { party in
      [
        "POST \(Self.host)/\(tenant)/oauth2/v2.0/token": party.tokens(rotating: false) { count in
          var all: [String: JSONValue] = [
            "iss": .string(Self.issuer(Self.tenant)), "tid": .string(Self.tenant), "ver": "2.0",
          ]
          for (name, value) in claims { all[name] = value }
          let idToken = try await party.idToken(all)
          // The response lists only scopes of a resource, so `openid` and `offline_access` are
          // missing.
          return
            #"{"token_type":"Bearer","scope":"https://graph.microsoft.com/User.Read","expires_in":3599,"ext_expires_in":3599,"access_token":"T\#(count)","refresh_token":"R1","id_token":"\#(idToken)"}"#
        },
        "GET \(Self.host)/\(tenant)/discovery/v2.0/keys": party.keys(key),
      ]
    }
    try party.fixture.register(
      secret: nil, scope: "openid offline_access https://graph.microsoft.com/User.Read",
      provider: .microsoft(tenant: tenant))
    return party
  }

  @Test(arguments: ["common", "organizations", tenant])
  func `a user of a tenant signs in, and the identity outlives a restart`(
    place: String
  ) async throws {
    let party = try party(place)
    let (first, second) = try await party.signInAndRefresh(after: 3_599)
    #expect(first.idToken?.issuer == Self.issuer(Self.tenant))
    #expect(first.scopes == ["https://graph.microsoft.com/User.Read"])
    #expect(second.accessToken == "T2" && second.idToken?.subject == "user")
    // The client must not demand consent: an administrator may have consented for a user who is not
    // allowed to do so.
    #expect(party.page?.parameters["prompt"] == nil)

    let restarted = SQOAuth()
    restarted.environment = party.fixture.oauth.environment
    restarted.register(try #require(party.fixture.oauth.module.configuration))
    #expect(try await restarted.restore())
    #expect(restarted.currentToken?.idToken?.issuer == Self.issuer(Self.tenant))
    await failure(.revocationUnsupported) { try await party.fixture.oauth.revoke() }
  }

  static let forgeries: [[String: JSONValue?]] = [
    ["iss": .string(issuer(other))], ["tid": .string(other)], ["tid": nil], ["tid": ""],
    ["tid": .string("x/../\(tenant)")], ["tid": 7], ["iss": .string(issuer("common"))],
    ["iss": .string(issuer(IssuerTemplate.placeholder))],
    [
      "iss": .string(issuer(IssuerTemplate.placeholder)),
      "tid": .string(IssuerTemplate.placeholder),
    ],
    ["iss": "https://login.evil.example/\(tenant)/v2.0"],
    ["iss": .string(issuer(tenant) + "/")], ["iss": .string("https://sts.windows.net/\(tenant)/")],
  ]

  @Test(arguments: forgeries)
  func `an ID token with a wrong iss or tid claim is refused`(
    claims: [String: JSONValue?]
  ) async throws {
    let party = try party(claims: claims)
    await failure(.idTokenIssuer) { try await party.fixture.oauth.signIn() }
    #expect(party.fixture.oauth.currentToken == nil)
  }

  @Test(
    arguments: [
      (tenant, ["iss": .string(issuer(other)), "tid": .string(other)]),
      (tenant, ["tid": .string(other)]), (tenant, ["tid": nil]),
      // A personal account belongs to no organization.
      ("organizations", ["iss": .string(issuer(other)), "tid": .string(other)]),
    ] as [(String, [String: JSONValue?])])
  func `an ID token of a tenant that the configuration does not allow is refused`(
    place: String, claims: [String: JSONValue?]
  ) async throws {
    let party = try party(place, claims: claims)
    await failure(.idTokenIssuer) { try await party.fixture.oauth.signIn() }
  }

  @Test func `a tenant's identifier may have capital letters`() async throws {
    let party = try party(Self.tenant)
    try party.fixture.register(
      secret: nil, scope: "openid", provider: .microsoft(tenant: Self.tenant.uppercased()))
    #expect(try await party.fixture.oauth.signIn().idToken?.issuer == Self.issuer(Self.tenant))
  }

  @Test(arguments: [nil, issuer(tenant), issuer(IssuerTemplate.placeholder)])
  func `a signing key for the tenant, for all tenants or without an issuer is accepted`(
    issuer: String?
  ) async throws {
    let party = try party(key: issuer.map { ["issuer": .string($0)] } ?? [:])
    #expect(try await party.fixture.oauth.signIn().idToken != nil)
  }

  @Test(arguments: ["common", tenant])
  func `an ID token that is signed with another tenant's key is refused`(place: String) async throws
  {
    let party = try party(place, key: ["issuer": .string(Self.issuer(Self.other))])
    await failure(.idTokenKey) { try await party.fixture.oauth.signIn() }
  }

  @Test func `a refresh that returns an ID token of another tenant fails`() async throws {
    let party = try party()
    try await party.fixture.oauth.signIn()
    party.fixture.http.answer { request in
      guard request.method == "POST" else { return try await party.keys()(request) }
      let idToken = try await party.idToken([
        "iss": .string(Self.issuer(Self.other)), "tid": .string(Self.other),
      ])
      return try await ScriptedTransport.token(
        "T2", members: #""expires_in":3599,"id_token":"\#(idToken)""#)(request)
    }
    party.fixture.clock.advance(by: 3_599)
    await failure(.idTokenSubject) { try await party.fixture.oauth.token() }
  }

  // MARK: Access tokens at a resource server

  /// Validates an access token with changed claims, at a service that accepts these tenants.
  private func validate(
    _ place: String, _ changes: [String: JSONValue?] = [:]
  ) async throws -> AccessTokenClaims {
    let party = try party(place)
    let validator = try AccessTokenValidator(
      provider: .microsoft(tenant: place), audience: "client", profile: .anyJWT,
      environment: party.fixture.oauth.environment)
    var claims: [String: JSONValue] = [
      "iss": .string(Self.issuer(Self.tenant)), "tid": .string(Self.tenant), "ver": "2.0",
    ]
    for (name, value) in changes { claims[name] = value }
    // Microsoft's access tokens have the same form as its ID tokens.
    return try await validator.validate(try await party.idToken(claims))
  }

  @Test(arguments: ["common", "organizations", tenant])
  func `a resource server accepts an access token of an allowed tenant`(
    place: String
  ) async throws {
    #expect(try await validate(place).issuer == Self.issuer(Self.tenant))
  }

  @Test(
    arguments: [
      ("common", ["iss": .string(issuer(other))]), ("common", ["iss": .string(issuer("common"))]),
      ("common", ["tid": nil]), ("organizations", ["tid": .string(other)]),
      ("organizations", ["iss": .string(issuer(other)), "tid": .string(other)]),
      (tenant, ["iss": .string(issuer(other)), "tid": .string(other)]),
    ] as [(String, [String: JSONValue?])])
  func `a resource server refuses an access token with a wrong or missing tenant`(
    place: String, changes: [String: JSONValue?]
  ) async throws {
    await failure(.accessTokenInvalid) { try await validate(place, changes) }
  }

  @Test(arguments: ["", "contoso.onmicrosoft.com", "..", "a/b", "Common", "8eaef023"])
  func `an invalid tenant is refused, and the error asks for the directory ID`(tenant: String) {
    let error = failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "id", redirectURI: "http://localhost/cb", provider: .microsoft(tenant: tenant))
    }
    #expect(error?.message.contains("Directory (tenant) ID") == true)
  }
}
