import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import SQCrypto
@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite for its extensions for programs
/// without a user.
///
/// Not yet written: `auth/enterprise-managed-authorization` and `auth/wif-jwt-bearer`, which need
/// identities whose assertions come from another server.
///
/// - SeeAlso: modelcontextprotocol/conformance; RFC 6749, section 4.4; RFC 7523
@Suite(.timeLimit(.minutes(2))) struct MachineScenarios {
  private let party: Party
  private let id = "conformance-test-client"

  init() throws {
    party = try Party()
    party.first.change {
      $0.members["grant_types_supported"] = ["client_credentials"]
      $0.members["scopes_supported"] = ["mcp:basic", "offline_access"]
    }
    party.resource.change { $0.members["scopes_supported"] = ["mcp:basic"] }
  }

  private func machine(secret: String? = nil, key: ClientKey? = nil) throws -> ClientIdentity {
    var configuration = try ClientConfiguration(
      clientID: id, clientSecret: secret, clientKey: key, provider: .issuer(party.first.issuer))
    configuration.usesClientCredentials = true
    return ClientIdentity(registering: Party.app, clients: [configuration])
  }

  private func onlyGrant() throws -> Visit {
    #expect(party.registered.isEmpty && party.authorized.isEmpty && party.browser.opened == [])
    #expect(party.redeemed.count == 1)
    let request = try #require(party.redeemed.first)
    #expect(request.value("grant_type") == "client_credentials")
    #expect(request.value("scope") == "mcp:basic", "never offline_access for machines")
    return request
  }

  @Test func `auth/client-credentials-jwt`() async throws {
    let key = try ClientKey(generating: .es256)
    party.first.change {
      $0.methods = ["private_key_jwt"]
      $0.members["token_endpoint_auth_signing_alg_values_supported"] = ["ES256"]
    }
    party.first.know(id, .init(method: "private_key_jwt"))
    try await party.works(party.client(machine(key: key)))
    let request = try onlyGrant()
    #expect(
      request.value("client_assertion_type")
        == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    let assertion = try #require(request.value("client_assertion"))
    // It verifies the signature.
    let claims = try MadeKeys.claims(of: assertion, by: key)
    #expect(claims["iss"]?.string == id && claims["sub"]?.string == id)
    #expect(claims["aud"] == .string(party.first.issuer))
  }

  @Test func `auth/client-credentials-basic`() async throws {
    party.first.change { $0.methods = ["client_secret_basic"] }
    party.first.know(
      id, .init(secret: "conformance-test-secret", method: "client_secret_basic"))
    try await party.works(party.client(machine(secret: "conformance-test-secret")))
    #expect(try onlyGrant().scheme == "basic")
  }
}
