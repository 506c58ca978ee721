import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// A client of one resource over time: after a restart, and with each kind of request.
@Suite(.timeLimit(.minutes(2))) struct ClientLifeTests {
  private let party: Party

  init() throws {
    party = try Party()
    party.first.change { $0.issuesRefreshTokens = true }
  }

  // MARK: Restarts

  @Test func `after a restart the stored token is used, and its issuer refreshes it`() async throws
  {
    party.resource.change { $0.challenge = #"scope="a""# }
    try await party.works()
    let before = party.journal.visits.count
    let manager = Party.manager(party.store, party.browser)
    let client = try party.client(manager: manager)
    try await party.works(client)
    #expect(party.journal.visits.dropFirst(before).map(\.path) == ["/mcp"])

    let module = try #require(try await client.account())
    try await module.refresh()
    let after = party.journal.visits.dropFirst(before + 1)
    // The stored token endpoint is asked only if the metadata cannot be fetched.
    #expect(
      after.map { "\($0.server) \($0.path)" } == [
        "first /.well-known/oauth-authorization-server", "first /token",
      ])
    #expect(after.last?.value("grant_type") == "refresh_token")
    #expect(after.last?.form["resource"] == [party.resource.address])
    try await party.works(client)
    #expect(party.authorized.count == 1)
  }

  @Test func `after a restart a step-up requests the old scopes together with the new one`()
    async throws
  {
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { visit in
        visit.request.method == "DELETE"
          ? (["b"], #"error="insufficient_scope", scope="b""#) : nil
      }
    }
    try await party.works()
    let client = try party.client(manager: Party.manager(party.store, party.browser))
    #expect(try await client.send(party.request("DELETE")).status == 200)
    #expect(party.asked == [["a"], ["a", "b"]])
    party.expectNoFaults()
  }

  @Test(arguments: [true, false])
  func `a client that the app registers during a sign-in stays after the user has refused`(
    isForNewServer: Bool
  ) async throws {
    let client = try await party.works()
    let module = try #require(try await client.account())
    if isForNewServer { party.resource.change { [party] in $0.servers = [party.second] } }
    let own = try ClientConfiguration(
      clientID: "own", redirectURI: Party.redirect, provider: .issuer(party.second.issuer))
    party.browser.refuse()
    party.browser.gate.close()
    let signIn = begin { try await client.signIn() }
    try await party.browser.gate.isHolding()
    module.register(own)
    party.browser.gate.open()
    await failure { try await signIn.value }
    #expect(module.configuration == own)
  }

  @Test func `an account ID that the app sets is the ID of the stored account`() async throws {
    let client = try party.client { $0.accountID = "someone" }
    try await party.works(client)
    let other = try party.client { $0.accountID = "another" }
    try await party.works(other)
    #expect(try await party.store.all().map(\.id).sorted() == ["another", "someone"])
    #expect(party.authorized.count == 2 && party.registered.count == 1)
    let restarted = try party.client(manager: Party.manager(party.store, party.browser)) {
      $0.accountID = "someone"
    }
    try await party.works(restarted)
    #expect(party.authorized.count == 2)
    #expect(party.redeemed.allSatisfy { $0.form["resource"] == [party.resource.address] })
  }

  /// What stores the account's record again after the failed sign-in.
  enum Save: CaseIterable { case refresh, flush }

  /// Without the resource's identifier in its record, the account would be refused.
  @Test(arguments: Save.allCases)
  func `an account ID stays usable if another program signs in after a failed sign-in`(
    save: Save
  ) async throws {
    let client = try party.client { $0.accountID = "someone" }
    party.browser.refuse()
    await failure(.cancelled) { try await client.signIn() }
    party.browser.refuse(false)
    func restarted() throws -> ResourceClient {
      try party.client(manager: Party.manager(party.store, party.browser)) {
        $0.accountID = "someone"
      }
    }
    try await party.works(restarted())
    try await party.works(client)
    let module = try #require(try await client.account())
    switch save {
    case .refresh: try await module.refresh()
    case .flush: try await module.flush()
    }
    #expect(module.attributes["resource"] == party.resource.address)
    try await party.works(restarted())
    #expect(party.authorized.count == 1)
  }

  /// The client must not send an account's token to a resource for which the token was not issued.
  @Test func `an account ID of another resource is refused, and its account stays usable`()
    async throws
  {
    let other = try Party()
    let client = try party.client { $0.accountID = "someone" }
    try await party.works(client)
    for manager in [party.manager, Party.manager(party.store, party.browser)] {
      let wrong = try other.client(party.registering, manager: manager) {
        $0.accountID = "someone"
      }
      let error = await failure(.duplicateName) { try await wrong.send(other.request()) }
      #expect(error?.message.contains("someone") == true)
      await failure(.duplicateName) { try await wrong.signIn() }
    }
    #expect(other.journal.visits.isEmpty && party.authorized.count == 1)
    try await party.works(client)
  }

  /// The store has no account yet that could say to which resource it belongs.
  @Test func `an account ID for which another resource's user signs in is refused`() async throws {
    let other = try Party()
    other.resource.change { [party] in $0.servers = [party.first] }
    let client = try party.client { $0.accountID = "someone" }
    let wrong = try other.client(party.registering, manager: party.manager) {
      $0.accountID = "someone"
    }
    party.browser.gate.close()
    let request = try party.request()
    let sent = begin { try await client.send(request).status }
    try await party.browser.gate.isHolding()
    await failure(.duplicateName) { try await wrong.send(other.request()) }
    party.browser.gate.open()
    #expect(try await sent.value == 200)
    #expect(other.visits().allSatisfy { $0.token == nil } && party.authorized.count == 1)
  }

  /// The refresh must name the same resource as the sign-in, not the address of the requests.
  @Test(arguments: [nil, "someone"])
  func `after a restart, a token for the whole origin is refreshed for the same origin`(id: String?)
    async throws
  {
    party.resource.change { [party] in
      $0.metadataPath = "/.well-known/oauth-protected-resource"
      $0.identifier = party.resource.origin
    }
    try await party.works(party.client { $0.accountID = id })
    let restarted = try party.client(manager: Party.manager(party.store, party.browser)) {
      $0.accountID = id
    }
    try await #require(restarted.account()).refresh()
    try await party.works(restarted)
    #expect(
      party.redeemed.map { $0.form["resource"] ?? [] } == [
        [party.resource.origin], [party.resource.origin],
      ])
  }

  // MARK: Requests

  @Test func `a request to another origin is not sent`() async throws {
    let client = try party.client()
    for address in [party.first.origin, "http://127.0.0.1/mcp", "https://api.example/mcp"] {
      await failure(.originNotAllowed) {
        try await client.send(WebRequest(url: address))
      }
    }
    #expect(party.journal.visits.isEmpty)
    try await party.works(client)
    let count = party.journal.visits.count
    await failure(.originNotAllowed) {
      try await client.send(WebRequest(url: party.first.origin))
    }
    #expect(party.journal.visits.count == count)
  }

  @Test func `without interaction, a request that needs a sign-in fails`() async throws {
    let client = try party.client { $0.interaction = .none }
    await failure(.notAuthorized) { try await client.send(party.request()) }
    #expect(party.paths(at: "resource") == ["/mcp"] && party.visits(at: "first").isEmpty)
    try await client.signIn()
    try await party.works(client)
  }

  @Test func `a resource that needs no authorization is requested without a sign-in`() async throws
  {
    party.resource.change { $0.replies["/mcp"] = { _ in .text("open", type: "text/plain") } }
    let response = try await party.client().send(party.request())
    #expect(response.body == Data("open".utf8))
    #expect(party.journal.visits.count == 1)
  }

  private func stream() throws -> WebRequest {
    let chunks = Locked([Data("content".utf8)])
    var request = try party.request()
    try request.setForm([
      .stream("file", length: 7, once: { chunks.withLock { $0.popLast() } })
    ])
    return request
  }

  @Test func `a body that can be read only once is sent only with a token`() async throws {
    let client = try party.client()
    #expect(try await client.send(stream()).status == 200)
    #expect(party.visits("/mcp").map { $0.token != nil } == [true])
    #expect(party.visits("/mcp").last?.text.contains("content") == true)
    party.expectNoFaults()
    // After a refusal, the client cannot send a streamed body again.
    party.first.revoke(try #require(party.visits("/mcp").first?.token))
    await failure(.bodyNotReplayable) { try await client.send(stream()) }
    #expect(party.visits("/mcp").count == 2 && party.authorized.count == 1)
  }
}
