import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// Settings of a client that was registered by hand, at a resource for which they were not made.
@Suite(.timeLimit(.minutes(2))) struct ByHandTests {
  private let party: Party

  init() throws {
    party = try Party()
    party.first.know("by-hand", .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    party.first.know("machine", .init(secret: "s", method: "client_secret_basic"))
  }

  private func user(
    audience: String? = nil, key: ClientKey? = nil,
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> ClientIdentity {
    var provider = Provider.issuer(party.first.issuer)
    provider.authorizationParameters["audience"] = audience
    var configuration = try ClientConfiguration(
      clientID: "by-hand", clientKey: key, redirectURI: Party.redirect, provider: provider,
      tokenParameters: audience.map { ["audience": $0, "other": "kept"] } ?? [:])
    change(&configuration)
    return ClientIdentity(clients: [configuration])
  }

  /// A server that goes by `audience` would issue a token for that API, and the client would send it
  /// to this resource.
  @Test func `the audience of another API is not requested for the resource`() async throws {
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try await party.works(party.client(user(audience: "https://api-a.example")))
    try await #require(try await client.account()).refresh()
    let requests = party.authorized + party.redeemed
    #expect(requests.count == 3)
    #expect(requests.allSatisfy { $0.value("resource") == party.resource.address })
    #expect(requests.allSatisfy { $0.value("audience") == nil })
    #expect(party.redeemed.allSatisfy { $0.value("other") == "kept" })
  }

  @Test func `an audience that is the resource itself is requested`() async throws {
    try await party.works(party.client(user(audience: party.resource.address)))
    let requests = party.authorized + party.redeemed
    #expect(requests.count == 2)
    #expect(requests.allSatisfy { $0.value("audience") == party.resource.address })
  }

  @Test func `a client without a user does not request the audience of another API`() async throws {
    party.first.change { $0.methods = ["client_secret_basic"] }
    var machine = try ClientConfiguration(
      clientID: "machine", clientSecret: "s", provider: .issuer(party.first.issuer),
      tokenParameters: ["audience": "https://api-a.example"])
    machine.usesClientCredentials = true
    try await party.works(party.client(ClientIdentity(clients: [machine])))
    #expect(party.redeemed.map { $0.value("resource") } == [party.resource.address])
    #expect(party.redeemed.map { $0.value("audience") } == [nil])
  }

  @Test func `an account that the app has loaded itself may go to the resource`() async throws {
    let configuration = try ClientConfiguration(
      clientID: "by-hand", redirectURI: Party.redirect, provider: .issuer(party.first.issuer))
    let (identity, store) = (ClientIdentity(clients: [configuration]), MemoryTokenStore())
    try await party.works(
      party.client(identity, manager: Party.manager(store, party.browser)))
    let manager = Party.manager(store, party.browser)
    let account = try await manager.account(configuration, id: party.resource.address)
    #expect(account.validToken != nil)
    try await party.works(party.client(identity, manager: manager))
    #expect(party.authorized.count == 1)
  }

  @Test func `scopes that the client's own account requires are not required at the resource`()
    async throws
  {
    party.resource.change { $0.challenge = #"scope="a""# }
    try await party.works(party.client(user { $0.requiredScopes = ["mail"] }))
    #expect(party.asked == [["a"]])
  }

  @Test func `a plan names the binding that a client brings although the resource demands none`()
    async throws
  {
    #expect(try await party.client(user()).plan(after: nil).binding == nil)
    party.first.change { $0.bindsTokens = true }
    let client = try party.client(
      user { $0.tokenBinding = .dpop() }, manager: Party.manager(MemoryTokenStore(), party.browser))
    #expect(try await client.plan(after: nil).binding == .dpop())
    try await party.works(client)
    #expect(party.redeemed.map { $0.proof != nil } == [true])
  }

  @Test(
    arguments: [SecurityProfile.standard, .mcp], [SecurityProfile.fapi2, .fapi2MessageSigning])
  func `the options of a resource do not weaken the profile of a client`(
    options: SecurityProfile, own: SecurityProfile
  ) async throws {
    let key = try ClientKey(generating: .es256)
    party.first.know(
      "by-hand",
      .init(method: "private_key_jwt", redirectURIs: [Party.redirect], acceptsAnyPort: true))
    party.first.change { $0.methods = ["private_key_jwt"] }
    let client = try party.client(user(key: key) { $0.profile = own }) { $0.profile = options }
    let error = await failure(.signInUnsupported) { try await client.send(party.request()) }
    #expect(error?.message.contains("pushed_authorization_request_endpoint") == true)
    #expect(party.browser.opened == [] && party.redeemed.isEmpty)
  }

  @Test func `the stricter one of two profiles is followed`() {
    #expect(SecurityProfile.standard.orStricter(.mcp) == .mcp)
    #expect(SecurityProfile.fapi2.orStricter(.standard) == .fapi2)
    #expect(SecurityProfile.mcp.orStricter(.fapi2) == .fapi2)
    #expect(SecurityProfile.fapi2.orStricter(.fapi2MessageSigning) == .fapi2MessageSigning)
  }
}
