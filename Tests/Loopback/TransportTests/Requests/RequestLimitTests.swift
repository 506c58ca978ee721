import Foundation
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import SequencingOAuthPipes
@testable import TestSupport

/// The time limit of each kind of request, as documented.
@Suite(.timeLimit(.minutes(1))) struct RequestLimitTests {
  private static let limit = Duration.seconds(45)

  /// Returns the requests that `act` sends with a client whose time limit is 45 s, in order.
  private func requests(
    _ provider: Provider = .endpoints(
      authorization: "https://id.example/authorize", token: "https://id.example/token",
      revocation: "https://id.example/revoke"),
    _ act: (SessionFixture) async throws -> Void
  ) async throws -> [WebRequest] {
    let fixture = try SessionFixture()
    var configuration = try ClientConfiguration(
      clientID: "client", clientSecret: "s", redirectURI: "com.example.app:/cb",
      provider: provider)
    configuration.timeout = Self.limit
    fixture.oauth.register(configuration)
    fixture.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
    try await act(fixture)
    return fixture.fixture.http.requests
  }

  private func expect(_ request: WebRequest, total: Duration, idle: Duration? = nil) {
    #expect(request.timeout == total)
    #expect(request.idleTimeout == idle)
  }

  @Test func `a token request has only the client's time limit`() async throws {
    let sent = try await requests { fixture in
      _ = try await fixture.oauth.signIn()
      _ = try await fixture.module.requestAccessTokenAsClient()
    }
    #expect(sent.count == 2)
    for request in sent {
      expect(request, total: Self.limit)
      #expect(request.limits.connection == nil)
    }
  }

  @Test func `a refresh waits longer for its answer, but not for its connection`() async throws {
    let sent = try await requests { fixture in
      try await fixture.restored()
      _ = try await fixture.module.refresh()
    }
    let refresh = try #require(sent.first)
    expect(refresh, total: ClientConfiguration.longestTimeout)
    #expect(refresh.limits.connection == Self.limit)
  }

  @Test func `a revocation has only the client's time limit`() async throws {
    let sent = try await requests { fixture in
      try await fixture.restored()
      try await fixture.module.revoke()
    }
    #expect(sent.count == 2)
    for request in sent { expect(request, total: Self.limit) }
  }

  @Test func `a metadata request has only the client's time limit`() async throws {
    let sent = try await requests(.issuer("https://id.example")) { fixture in
      // No answer is valid metadata, so the client tries every metadata address.
      await failure(.invalidResponse) { try await fixture.oauth.signIn() }
    }
    #expect(!sent.isEmpty)
    for request in sent { expect(request, total: Self.limit) }
  }

  @Test func `an authorized request has the client's time limit`() async throws {
    let sent = try await requests { fixture in
      try await fixture.restored()
      _ = try await fixture.module.send(try .get("https://api.example/files"))
    }
    expect(try #require(sent.last), total: Self.limit)
  }

  @Test func `an authorized request keeps its own time limits`() async throws {
    let sent = try await requests { fixture in
      try await fixture.restored()
      var request = try WebRequest.get("https://api.example/files")
      request.timeout = .seconds(7)
      request.idleTimeout = .seconds(3)
      _ = try await fixture.module.send(request)
      request.idleTimeout = nil
      _ = try await fixture.module.send(request)
      request.timeout = nil
      _ = try await fixture.module.send(request)
      request = try .get("https://api.example/files")
      request.timeout = nil
      _ = try await fixture.module.send(request)
    }
    let limits = sent.map { [$0.timeout, $0.idleTimeout] }
    #expect(
      limits == [
        [.seconds(7), .seconds(3)], [.seconds(7), nil], [nil, nil],
        // A request without a total limit gets the client's time limit as its idle limit.
        [nil, Self.limit],
      ])
  }

  @Test(arguments: [nil, Duration.seconds(7)])
  func `a pipe operation has the pipe's time limit or, without one, the client's`(own: Duration?)
    async throws
  {
    var configuration = PipeConfiguration()
    configuration.timeout = own
    let fixture = try await PipeFixture(configuration, change: { $0.timeout = Self.limit })
    _ = try await fixture.pipe.read()
    let limit = own ?? Self.limit
    expect(try #require(fixture.session.apiRequests.last), total: limit, idle: limit)
  }

  @Test func `a request may take 60 s by default or, without a total limit, be idle for 60 s`()
    throws
  {
    var request = try WebRequest.get("https://api.example/")
    expect(request, total: .seconds(60))
    request.timeout = nil
    #expect(request.timeout == nil && request.idleTimeout == .seconds(60))
    request.idleTimeout = .seconds(5)
    #expect(request.idleTimeout == .seconds(5))
  }

  @Test(
    arguments: [
      (.seconds(7), .seconds(7)), (.seconds(100), .seconds(100)), (.seconds(101), .seconds(100)),
      (.seconds(Int64.max) * 2, .seconds(100)), (.seconds(-1), .zero),
    ] as [(Duration, Duration)])
  func `a client's time limit is between 0 and 100 s`(asked: Duration, has: Duration) throws {
    var configuration = try ClientConfiguration(
      clientID: "client", provider: .endpoints(token: "https://id.example/t"))
    configuration.timeout = asked
    #expect(configuration.timeout == has)
  }

  @Test func `the longest request ends before another process stops waiting for the account`() {
    #expect(ClientConfiguration.longestTimeout.seconds <= SessionLease.longestWait.seconds - 15)
  }

  @Test func `a silent API causes a timeout at the client's time limit`() async throws {
    let time = TimeLead()
    let server = try Server { _, _ in
      time.advance(by: Self.limit)
      return .script([.wait(.seconds(50))])
    }
    let fixture = try SessionFixture(change: { $0.timeout = Self.limit })
    try await fixture.restored()
    fixture.oauth.environment.transport = CurlTransport(lead: time)
    let request = try server.request()
    let error = await failure(.requestTimedOut) { try await fixture.module.send(request) }
    #expect(error?.message.contains("45.0 s") == true)
  }

  @Test func `a refresh that was sent waits beyond the client's time limit`() async throws {
    let body = #"{"access_token":"T2","token_type":"Bearer","refresh_token":"R2"}"#
    let time = TimeLead()
    let server = try Server { _, _ in
      time.advance(by: Self.limit + .seconds(10))
      return .response(
        LoopbackResponse(
          status: 200, headers: [("Content-Type", "application/json")], body: Data(body.utf8)))
    }
    let token = "http://\(server.loopback.authority)/token"
    let fixture = try SessionFixture()
    var configuration = try ClientConfiguration(
      clientID: "client", provider: .endpoints(token: token))
    configuration.timeout = Self.limit
    fixture.oauth.register(configuration)
    try await fixture.restored()
    fixture.oauth.environment.transport = CurlTransport(lead: time)
    #expect(try await fixture.module.refresh().accessToken == "T2")
    #expect(server.requests.count == 1)
  }

  @Test func `a request that gets no connection fails at its connection limit`() async throws {
    // The server accepts connections but sends nothing, so no TLS connection is established.
    let time = TimeLead()
    let server = try RawServer { connection in
      while !connection.read().isEmpty { time.advance(by: Self.limit) }
    }
    defer { server.stop() }
    let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/token"))
    var request = WebRequest(method: "POST", url: url, body: .bytes(Data("x=y".utf8)))
    request.timeout = .seconds(3600)
    request.limits.connection = Self.limit
    let error = await failure(.requestTimedOut) { [request] in
      try await CurlTransport(lead: time).send(request)
    }
    #expect(error?.message.contains("was not sent") == true)
  }
}
