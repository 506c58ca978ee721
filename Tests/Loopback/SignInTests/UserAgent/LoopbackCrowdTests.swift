import Foundation
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Other programs that connect to the receiver's port or occupy it.
@Suite(.timeLimit(.minutes(1))) struct LoopbackCrowdTests {
  private static func redirect(_ uri: String) throws -> LoopbackRedirect {
    try LoopbackRedirect(try #require(URL(string: uri)))
  }

  private static func serve(
    _ address: LoopbackAddress, _ port: UInt16 = 0
  ) throws(LoopbackError) -> LoopbackServer {
    try LoopbackServer(address: address, port: port) { _ in
      .response(LoopbackResponse(status: 200))
    }
  }

  @Test(.requires("the address ::1", RawClient.hasIPv6), arguments: [LoopbackAddress.ipv4, .ipv6])
  func `a localhost redirect fails if another program uses the port at 127.0.0.1 or ::1`(
    address: LoopbackAddress
  ) async throws {
    let other = try Self.serve(address)
    let fixture = try OAuthFixture().register(redirectURI: "http://localhost:\(other.port)/cb")
    let error = await failure(.portInUse) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("\(other.port)") == true)
    #expect(fixture.opened.isEmpty)
    await other.stop()
  }

  @Test(.requires("the address ::1", RawClient.hasIPv6))
  func `a localhost redirect without a port gets one that is free at 127.0.0.1 and ::1`() throws {
    var others: [LoopbackServer] = []
    let servers = try LoopbackRedirectReceiver.listen(try Self.redirect("http://localhost/cb")) {
      address, port throws(LoopbackError) in
      // Three times, another program has already taken the chosen port on ::1.
      if address == .ipv6, others.count < 3 { others.append(try Self.serve(.ipv6, port)) }
      return try Self.serve(address, port)
    }
    #expect(servers.map(\.address) == [.ipv4, .ipv6])
    #expect(Set(servers.map(\.port)).count == 1)
    #expect(!others.contains { $0.port == servers[0].port })
  }

  @Test(arguments: [LoopbackAddress.ipv4, .ipv6])
  func `a loopback address that the system does not have is skipped`(missing: LoopbackAddress)
    throws
  {
    let servers = try LoopbackRedirectReceiver.listen(try Self.redirect("http://localhost/cb")) {
      address, port throws(LoopbackError) in
      if address == missing { throw .addressUnavailable }
      return try Self.serve(address == .ipv6 && !RawClient.hasIPv6 ? .ipv4 : address, port)
    }
    #expect(servers.count == 1)
  }

  @Test(
    arguments: ["http://localhost/cb", "http://127.0.0.1/cb", "http://[::1]/cb"],
    [.addressUnavailable, .system(errno: EACCES), .portInUse(7)] as [LoopbackError])
  func `if no loopback address can be bound, the system's error is thrown`(
    uri: String, error: LoopbackError
  ) throws {
    let redirect = try Self.redirect(uri)
    #expect(throws: error) {
      try LoopbackRedirectReceiver.listen(redirect) { _, _ throws(LoopbackError) in throw error }
    }
  }

  @Test(arguments: ["http://127.0.0.1/cb", "http://localhost/cb"])
  func `idle connections do not block the browser`(uri: String) async throws {
    let (fixture, page, port) = try await LoopbackRedirectTests.waiting(uri)
    let idle = try (0..<40).map { _ in try RawClient(port: port) }
    for client in idle.prefix(30) { client.write("GET /cb HTTP/1.1\r\nHost: ") }
    let answer = try await RawClient.get(try page.redirect("code=abc"))
    #expect(RawClient.status(answer) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    withExtendedLifetime(idle) {}
  }

  @Test func `connections that stay open after their request do not block the browser`()
    async throws
  {
    let (fixture, page, port) = try await LoopbackRedirectTests.waiting()
    let others = try (0..<40).map { _ in try RawClient(port: port) }
    for client in others { client.write("GET /other HTTP/1.1\r\nHost: a\r\n\r\n") }
    let answer = try await RawClient.get(try page.redirect("code=abc"))
    #expect(RawClient.status(answer) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    withExtendedLifetime(others) {}
  }

  @Test func `a timeout after too many connections is not reported as a cancellation`() async throws
  {
    let (fixture, _, port) = try await LoopbackRedirectTests.waiting()
    let idle = try (0..<17).map { _ in try RawClient(port: port) }
    // The server closed the first connection to accept another one.
    #expect(await idle[0].readToEnd() == "")
    let end = begin { await failure(.redirectUnavailable) { try await fixture.oauth.signIn() } }
    fixture.clock.advance(by: 1_000)
    let reason = try await end.value
    #expect(reason?.isCancellation == false)
    #expect(reason?.message.contains("too many connections") == true)
    #expect(await fixture.delegate.events(1) == [.failed(.redirectUnavailable)])
    withExtendedLifetime(idle) {}
  }
}
