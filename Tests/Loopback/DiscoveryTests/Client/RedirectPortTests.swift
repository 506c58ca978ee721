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

  /// Signs in, and returns the registered redirect URIs with a port.
  private func register() async throws -> [String] {
    try await party.works()
    let uris = try #require(party.registered.first?.json["redirect_uris"]?.array)
      .compactMap(\.string)
    // The first URI has no port: it is for programs that use any port and share the registration.
    #expect(uris.first == Party.redirect)
    return Array(uris.dropFirst())
  }

  /// Takes the ports of redirect URIs, runs a body with a restarted client, and frees the ports.
  private func taking(
    _ uris: some Sequence<String>, limit: Duration = .zero,
    _ body: (ResourceClient) async throws -> Void
  ) async throws {
    let others = try uris.compactMap { uri -> LoopbackServer? in
      let port = UInt16(try #require(URL(string: uri)?.port))
      do {
        return try LoopbackServer(port: port) { _ in .response(LoopbackResponse(status: 404)) }
      } catch LoopbackError.portInUse {
        // Another test has taken it.
        return nil
      }
    }
    let manager = Party.manager(MemoryTokenStore(), party.browser)
    try await body(party.client(manager: manager) { $0.portTimeout = limit })
    for other in others { await other.stop() }
  }

  @Test func `the redirect uses a registered port`() async throws {
    let uris = try await register()
    #expect(uris.count == 3 && party.authorized.count == 1)
    #expect(uris.contains(party.authorized.last?.value("redirect_uri") ?? ""))
  }

  @Test(arguments: [1, 2]) func `if a registered port is in use, another registered port is used`(
    taken: Int
  ) async throws {
    let uris = try await register()
    try await taking(uris.prefix(taken)) { try await party.works($0) }
    #expect(party.registered.count == 1)
    #expect(uris.dropFirst(taken).contains(party.authorized.last?.value("redirect_uri") ?? ""))
  }

  @Test func `if all registered ports are in use, the sign-in fails before the browser opens`()
    async throws
  {
    try await taking(await register()) { client in
      await failure(.portInUse) { try await client.send(party.request()) }
    }
    #expect(party.authorized.count == 1)
  }

  /// For example, if a program uses four resources of one server, their sign-ins share three ports.
  @Test func `if all registered ports are in use, a sign-in can wait for one of them`() async throws
  {
    let uris = try await register()
    let known = party.paths(at: "first").count
    var waiting: Task<Int, any Error>?
    try await taking(uris, limit: .seconds(60)) { client in
      let request = try party.request()
      waiting = begin { try await client.send(request).status }
      // Keep the ports in use until the sign-in has begun.
      try await eventually { party.paths(at: "first").count > known }
    }
    #expect(try await waiting?.value == 200 && party.authorized.count == 2)
  }
}
