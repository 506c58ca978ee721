import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// The ports of redirect URIs at a server that compares them with the registered ones.
///
/// - SeeAlso: RFC 8252, section 7.3
@Suite(.timeLimit(.minutes(2))) struct RedirectPortTests {
  private let party: Party

  init() throws { party = try Party() }

  @Test func `the redirect uses a registered port`() async throws {
    try await party.works()
    let uris = try #require(party.registered.first?.json["redirect_uris"]?.array)
    #expect(uris.count == 3)
    #expect(party.authorized.count == 1)
    #expect(uris.contains(.string(party.authorized.last?.value("redirect_uri") ?? "")))
  }

  @Test(arguments: [1, 2]) func `a taken port gives way to the next one`(taken: Int) async throws {
    try await party.works()
    let uris = try #require(party.registered.first?.json["redirect_uris"]?.array)
      .compactMap(\.string)
    let others = try uris.prefix(taken).map { uri in
      try LoopbackServer(port: UInt16(try #require(URL(string: uri)?.port))) { _ in
        .response(LoopbackResponse(status: 404))
      }
    }
    let restarted = try party.client(
      manager: Party.manager(MemoryTokenStore(), party.browser))
    try await party.works(restarted)
    #expect(party.registered.count == 1)
    #expect(uris.dropFirst(taken).contains(party.authorized.last?.value("redirect_uri") ?? ""))
    for other in others { await other.stop() }
  }

  @Test func `taken ports stop the sign-in before the browser`() async throws {
    try await party.works()
    let uris = try #require(party.registered.first?.json["redirect_uris"]?.array)
      .compactMap(\.string)
    let others = try uris.map { uri in
      try LoopbackServer(port: UInt16(try #require(URL(string: uri)?.port))) { _ in
        .response(LoopbackResponse(status: 404))
      }
    }
    let restarted = try party.client(
      manager: Party.manager(MemoryTokenStore(), party.browser))
    await failure(.portInUse) { try await restarted.send(party.request()) }
    #expect(party.authorized.count == 1)
    for other in others { await other.stop() }
  }
}
