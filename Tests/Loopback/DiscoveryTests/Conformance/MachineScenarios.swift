import SQBasics
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import SQCrypto
@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite about programs without a user.
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
    #expect(request.value("scope") == "mcp:basic", "a machine never requests offline_access")
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
    // `claims(of:by:)` also verifies the signature.
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

  // MARK: Assertions from elsewhere

  /// Makes the first server accept only assertions, from a client that authenticates as `client`
  /// says.
  private func takesAssertions(
    _ client: AuthorizationServer.Client,
    _ judge: @escaping @Sendable (SentAssertion, String) -> String?
  ) {
    party.first.change {
      $0.members["grant_types_supported"] = [.string(AuthorizationServer.assertionGrant)]
      $0.methods = [client.method]
      $0.registers = false
      $0.judgesAssertion = judge
    }
    party.first.know(id, client)
  }

  private func identity(
    secret: String? = nil, _ source: AssertionSource
  ) throws -> ClientIdentity {
    var configuration = try ClientConfiguration(
      clientID: id, clientSecret: secret, provider: .issuer(party.first.issuer),
      clientAuthentication: secret == nil ? .publicClient : .basic)
    configuration.grantAssertionSource = source
    return ClientIdentity(clients: [configuration])
  }

  @Test(arguments: [nil, "invalid_grant", "invalid_scope", "unauthorized_client"])
  func `auth/wif-jwt-bearer`(refusal: String?) async throws {
    takesAssertions(.init()) { _, _ in refusal }
    let issuer = party.first.issuer
    let text = AuthorizationServer.token(
      type: "JWT", ["iss": "https://platform.example", "sub": "workload", "aud": .string(issuer)])
    let client = try party.client(identity(AssertionSource { _ in text }))
    if let refusal {
      await failure(.init(rawValue: refusal)) { try await client.send(party.request()) }
    } else {
      try await party.works(client)
    }
    // A refusal is final: no second request, and no other grant.
    #expect(party.redeemed.count == 1 && party.browser.opened == [])
    let request = try #require(party.redeemed.first)
    #expect(request.value("grant_type") == AuthorizationServer.assertionGrant)
    #expect(request.value("assertion") == text && request.value("scope") == "mcp:basic")
  }

  @Test func `an assertion for another audience is not sent`() async throws {
    takesAssertions(.init()) { _, _ in nil }
    let text = AuthorizationServer.token(
      type: "JWT", ["iss": "https://platform.example", "aud": "https://other.example"])
    let client = try party.client(identity(AssertionSource { _ in text }))
    await failure(.clientKeyFailed) { try await client.send(party.request()) }
    #expect(party.redeemed.isEmpty)
  }

  @Test func `auth/enterprise-managed-authorization`() async throws {
    let resource = party.resource.address
    takesAssertions(
      .init(secret: "conformance-test-xaa-secret", method: "client_secret_basic")
    ) { [first = party.first] in first.judge($0, for: resource, client: $1) }
    party.second.change { $0.exchangesIdentities = true }
    party.second.know(id, .init())
    let provider = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: id, provider: .issuer(party.second.issuer), clientAuthentication: .publicClient))
    let source = AssertionSource { audience in
      try await provider.exchangeToken(
        TokenExchange(
          subject: .idToken("the user's ID token"), audiences: [audience],
          resources: [resource], requestedType: .idJAG)
      ).text
    }
    let client = try party.client(identity(secret: "conformance-test-xaa-secret", source))
    try await party.works(client)
    #expect(party.redeemed.map(\.server) == ["second", "first"] && party.browser.opened == [])
    let exchange = try #require(party.redeemed.first)
    #expect(exchange.value("audience") == party.first.issuer)
    let grant = try #require(party.redeemed.last)
    #expect(grant.value("grant_type") == AuthorizationServer.assertionGrant)
    #expect(grant.scheme == "basic")
    // A token that the resource refuses is replaced in the same way, with a new assertion.
    party.first.revoke(try #require(await client.account()?.currentToken?.accessToken))
    try await party.works(client)
    #expect(party.redeemed.map(\.server) == ["second", "first", "second", "first"])
  }

  @Test func `a step-up does not give the account to another user of the identity provider`()
    async throws
  {
    takesAssertions(.init()) { _, _ in nil }
    party.resource.change {
      $0.demand = { visit in
        guard visit.json["method"]?.string == "tools/call" else { return nil }
        return (["mcp:write"], #"scope="mcp:write", error="insufficient_scope""#)
      }
    }
    let user = Locked("alice")
    let issuer = party.first.issuer
    let source = AssertionSource { _ in
      AuthorizationServer.token(
        type: "oauth-id-jag+jwt",
        [
          "iss": "https://company.example", "sub": .string(user.withLock(\.self)),
          "aud": .string(issuer),
        ])
    }
    let client = try await party.works(party.client(identity(source)))
    let token = try #require(await client.account()?.currentToken)
    user.withLock { $0 = "bob" }
    let call = try party.request(body: #"{"method":"tools/call"}"#)
    let error = await failure(.clientKeyFailed) { try await client.send(call) }
    #expect((error?.cause as? SQOAuthError)?.code == .idTokenSubject)
    #expect(try await client.account()?.currentToken == token)
    #expect(party.redeemed.count == 1, "the other user's assertion is not sent")
    // The request of the account's user goes on after the step-up.
    user.withLock { $0 = "alice" }
    #expect(try await client.send(call).status == 200)
    #expect(party.redeemed.last?.scopes == ["mcp:basic", "mcp:write"])
    user.withLock { $0 = "bob" }
    try await client.signIn()
    #expect(party.redeemed.count == 3, "the app may give the account to another user")
  }
}
