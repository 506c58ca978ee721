import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// How a pipe gets access before its request, and how it reports a failure.
@Suite("Pipe access", .timeLimit(.minutes(1))) struct PipeAccessTests {
  @Test func `without a token, the user signs in and then one request is sent`() async throws {
    let fixture = try await PipeFixture(isSignedIn: false)
    _ = try await fixture.pipe.read()
    #expect(fixture.session.requests == ["authorization_code", "GET /v2/files T1"])
    #expect(fixture.session.fixture.opened.count == 1)
  }

  @Test func `many concurrent operations without a token share one sign-in`() async throws {
    let fixture = try await PipeFixture(isSignedIn: false)
    let reads = (0..<50).map { id in begin { try await fixture.pipe.read(id: id) } }
    for read in reads { _ = try await read.value }
    #expect(fixture.session.fixture.opened.count == 1)
    #expect(fixture.session.requests.count { $0 == "authorization_code" } == 1)
    #expect(fixture.session.requests.count == 51)
  }

  @Test func `an expired token is refreshed before it is used`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.clock.advance(by: 3600)
    _ = try await fixture.pipe.read()
    #expect(fixture.session.requests == ["refresh R1", "GET /v2/files T2"])
  }

  @Test func `if a refresh ends the session, the user signs in again`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.clock.advance(by: 3600)
    fixture.session.server.next(
      ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400))
    _ = try await fixture.pipe.read()
    #expect(
      fixture.session.requests == ["refresh R1", "authorization_code", "GET /v2/files T2"])
    // The next request uses the session of the new sign-in, even if the API rejects the token T2.
    fixture.session.api { request in
      request.headers["Authorization"] == "Bearer T2"
        ? TokenServer.challenge(SendTests.invalid) : WebResponse(status: 200)
    }
    _ = try await fixture.pipe.read()
    #expect(fixture.session.requests.suffix(2) == ["refresh R2", "GET /v2/files T3"])
  }

  @Test func `if the app signs the user out during the refresh, no browser opens`() async throws {
    let fixture = try await PipeFixture()
    let session = fixture.session
    session.clock.advance(by: 3600)
    session.server.gate.close()
    let pipe = fixture.pipe
    let save = begin { try await pipe.save(JSONValue.object([:])) }
    try await session.server.gate.isHolding()
    session.oauth.userDidSignOut()
    session.server.gate.open()
    let error = await failure(as: PipeError.self) { try await save.value }
    guard case .noAccess(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .notAuthorized && fixture.asked.isEmpty)
    #expect(session.fixture.opened.isEmpty && session.memory == nil)
  }

  @Test func `a rejected token causes one refresh and one more request`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.api { request in
      request.headers["Authorization"] == "Bearer T1"
        ? TokenServer.challenge(SendTests.invalid) : WebResponse(status: 201)
    }
    try await fixture.pipe.save(JSONValue.object([:]))
    #expect(fixture.session.requests == ["POST /v2/files T1", "refresh R1", "POST /v2/files T2"])
  }

  @Test func `if the API also rejects the refreshed token, the operation ends with that rejection`()
    async throws
  {
    let fixture = try await PipeFixture()
    fixture.session.api { _ in TokenServer.challenge(SendTests.invalid) }
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    #expect(error?.refusal?.status == 401)
    #expect(error?.refusal?.challenge?.error == .invalidToken)
    #expect(fixture.session.requests == ["GET /v2/files T1", "refresh R1", "GET /v2/files T2"])
    #expect(fixture.session.fixture.opened.isEmpty, "the API's word signs nobody out")
  }

  @Test func `insufficient scope is reported with the challenge, without a refresh`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.api { _ in
      TokenServer.challenge(#"Bearer error="insufficient_scope", scope="x""#, status: 403)
    }
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    #expect(error?.refusal?.status == 403)
    #expect(error?.refusal?.challenge?.error == .insufficientScope)
    #expect(error?.refusal?.challenge?.scope == "x")
    #expect(fixture.session.requests == ["GET /v2/files T1"])
  }

  @Test func `a denied sign-in is not reported as a failure of the API`() async throws {
    let fixture = try await PipeFixture(isSignedIn: false) { fixture, page in
      fixture.oauth.handleRedirect(try page.redirect("error=access_denied"))
    }
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .noAccess(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .accessDenied && fixture.asked.isEmpty)
  }

  @Test func `a failed refresh is not reported as a failure of the API`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.clock.advance(by: 3600)
    fixture.session.server.next { _ in throw SQOAuthError(.connectionFailed, "down") }
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .noAccess(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .connectionFailed && fixture.asked.isEmpty)
  }

  @Test func `a failed refresh after a rejection is reported as missing access`() async throws {
    let fixture = try await PipeFixture()
    fixture.session.api { _ in TokenServer.challenge(SendTests.invalid) }
    fixture.session.server.next { _ in throw SQOAuthError(.connectionFailed, "down") }
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .noAccess(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .connectionFailed)
    #expect(fixture.session.requests == ["GET /v2/files T1", "refresh R1"])
  }

  @Test func `a server that may not get the token gets no request, and no user signs in`()
    async throws
  {
    let fixture = try await PipeFixture(
      isSignedIn: false,
      change: {
        $0.resourceOrigins = (try? [ResourceOrigin("https://other.example")]) ?? []
      })
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    guard case .failed(let cause)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(cause.code == .originNotAllowed)
    #expect(fixture.session.requests.isEmpty && fixture.session.fixture.opened.isEmpty)
  }
}
