import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The rules for every preset.
@Suite struct PresetTableTests {
  /// A preset, the domains of its servers, and its section in the article "Providers".
  typealias Row = (provider: Provider, domains: [String], section: String)

  private static let tenant = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490"

  static let rows: [Row] = [
    (.sequencing, ["sequencing.com"], "Sequencing.com"),
    (.google, ["google.com", "googleapis.com"], "Google"),
    (.facebook, ["facebook.com"], "Facebook"),
    (.keycloak(baseURL: "https://id.example.com", realm: "r"), ["id.example.com"], "Keycloak"),
    (.gitHub, ["github.com"], "GitHub"),
    (.gitHub(host: "github.example.com"), ["github.example.com"], "GitHub"),
    (.gitHub(host: "example.ghe.com"), ["example.ghe.com"], "GitHub"),
    (.gitLab, ["gitlab.com"], "GitLab"),
    (.gitLab(baseURL: "https://example.com/gitlab"), ["example.com"], "GitLab"),
    (.microsoft(), ["login.microsoftonline.com", "graph.microsoft.com"], "Microsoft"),
    (
      .microsoft(tenant: tenant), ["login.microsoftonline.com", "graph.microsoft.com"], "Microsoft"
    ),
    (.apple(teamID: "TEAM456789"), ["appleid.apple.com"], "Apple"),
    (.okta(domain: "example.okta.com"), ["example.okta.com"], "Okta"),
    (.okta(domain: "example.okta.com", authorizationServer: nil), ["example.okta.com"], "Okta"),
    (.auth0(domain: "example.eu.auth0.com", audience: "a"), ["example.eu.auth0.com"], "Auth0"),
    (.slack, ["slack.com"], "Slack"), (.slackBot, ["slack.com"], "Slack"),
  ]

  private static func configuration(_ provider: Provider) throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: "id", clientSecret: "s", redirectURI: "http://127.0.0.1/cb", provider: provider)
  }

  @Test(arguments: rows.indices)
  func `a preset is a valid configuration and has a name`(index: Int) throws {
    let provider = Self.rows[index].provider
    _ = try Self.configuration(provider)
    #expect(!provider.name.isEmpty && provider.fault == nil)
  }

  @Test(arguments: rows.indices)
  func `a preset's servers use https, and are in the provider's domains`(index: Int) throws {
    let row = Self.rows[index]
    for origin in row.provider.origins.map(\.description) {
      #expect(origin.hasPrefix("https://") && origin.hasSuffix(":443"))
      let host = origin.dropFirst("https://".count).dropLast(":443".count)
      #expect(row.domains.contains { host == $0 || host.hasSuffix(".\($0)") }, "\(host)")
    }
    #expect(!row.provider.origins.isEmpty)
    for host in row.provider.apiHosts {
      let name = host.drop { $0 == "." }
      #expect(row.domains.contains { name == $0 || name.hasSuffix(".\($0)") }, "\(host)")
    }
  }

  @Test(arguments: rows.indices)
  func `the only query in the addresses of presets is q=oauth2/token`(index: Int) throws {
    let row = Self.rows[index]
    guard case .endpoints = row.provider.source else { return }
    let metadata = try #require(try Self.configuration(row.provider).metadata)
    let optional = metadata.optionalEndpoints.values.map(\.url)
    let urls =
      [metadata.authorizationEndpoint, metadata.tokenEndpoint, metadata.refreshEndpoint] + optional
    let queries = urls.compactMap { $0?.query() }
    #expect(queries.allSatisfy { $0 == "q=oauth2/token" })
  }

  /// The deviations that each preset accepts; a new deviation belongs in this list.
  @Test func `only the presets of GitHub, Slack, Facebook, Microsoft and Apple have deviations`() {
    let deviant = Self.rows.filter { $0.provider.tokenResponseQuirks != [] }
    #expect(Set(deviant.map(\.section)) == ["GitHub", "Slack"])
    let revoking = Self.rows.filter { $0.provider.revocationStyle != .rfc7009 }
    #expect(Set(revoking.map(\.section)) == ["Facebook", "GitHub", "Slack"])
    let ending = Self.rows.filter { !$0.provider.endedSessionCodes.isEmpty }
    #expect(Set(ending.map(\.section)) == ["GitHub", "Slack"])
    let withTenants = Self.rows.filter { $0.provider.idTokenIssuer != nil }
    #expect(Set(withTenants.map(\.section)) == ["Microsoft"])
    let asserting = Self.rows.filter { $0.provider.assertionIssuer != nil }
    #expect(asserting.map(\.section) == ["Apple"])
  }

  @Test
  func `at Apple, Facebook, Google, Keycloak and Slack, unused tokens are not revoked`() {
    let sparing = Self.rows.filter { !$0.provider.revokesSingleTokens }
    #expect(
      Set(sparing.map(\.section)) == ["Apple", "Facebook", "Google", "Keycloak", "Slack"])
    #expect(!Provider.issuer(Provider.googleIssuer).revokesSingleTokens)
    #expect(
      !Provider.keycloak(baseURL: "https://id.example.com", realm: "r", revokesByLogout: true)
        .revokesSingleTokens)
  }

  @Test func `the Providers article has a table row and a section for each preset`() throws {
    let article = try String(
      contentsOf: PackageSources.root.appending(
        path: "Sources/SequencingOAuth/SequencingOAuth.docc/Providers.md"), encoding: .utf8)
    for section in Set(Self.rows.map(\.section)) {
      let anchor = section.lowercased().filter { $0 != "." }
      #expect(article.contains("\n| [\(section)](#\(anchor)) |"), "\(section)")
      #expect(article.contains("\n### \(section)\n"), "\(section)")
    }
  }

  @Test(arguments: [
    ("https://slack.com", Provider.slack, true), ("https://evil-slack.com", .slack, false),
    ("https://api.github.com", .gitHub, true), ("https://gist.github.com", .gitHub, false),
    ("https://github.example.com", .gitHub(host: "github.example.com"), true),
    ("https://api.example.ghe.com", .gitHub(host: "example.ghe.com"), true),
    ("https://gitlab.com", .gitLab, true), ("https://graph.microsoft.com", .microsoft(), true),
    ("https://graph.microsoft.com.example", .microsoft(), false),
  ])
  func `a provider's tokens may be sent only to hosts of its own API`(
    address: String, provider: Provider, isAPI: Bool
  ) throws {
    #expect(provider.hasAPI(at: try ResourceOrigin(address)) == isAPI)
  }

  @Test func `a revocation at GitHub Enterprise goes to its own API`() throws {
    let endpoints = try ["github.com", "github.example.com", "example.ghe.com"].map {
      try Self.configuration(.gitHub(host: $0)).metadata?.revocationEndpoint?.absoluteString
    }
    #expect(
      endpoints == [
        "https://api.github.com/applications", "https://github.example.com/api/v3/applications",
        "https://api.example.ghe.com/applications",
      ])
  }

  @Test func `Microsoft's tenant for consumers has the fixed issuer of personal accounts`() {
    let provider = Provider.microsoft(tenant: "consumers")
    #expect(
      provider.issuer
        == "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0")
    #expect(
      provider.idTokenIssuer?.tenants == .only("9188040d-6c67-4c5b-b112-36a304b66dad"))
  }
}
