import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// What happens if a server rejects the token of a request.
@Suite("send(request)", .timeLimit(.minutes(1))) struct SendTests {
  static let invalid = #"Bearer realm="r", error="invalid_token", error_description="old""#

  /// Returns a session whose API gives these answers in turn, and then status 200.
  func fixture(_ answers: WebResponse...) async throws -> SessionFixture {
    let fixture = try await SessionFixture().restored()
    let script = Locked(answers)
    fixture.api { _ in
      script.withLock { $0.isEmpty ? WebResponse(status: 200) : $0.removeFirst() }
    }
    return fixture
  }

  func send(_ fixture: SessionFixture) async throws -> WebResponse {
    try await fixture.module.send(.get("https://api.example/x"))
  }

  @Test func `a request is sent once if the server accepts its token`() async throws {
    let fixture = try await fixture()
    #expect(try await send(fixture).status == 200)
    #expect(fixture.requests == ["GET /x T1"])
  }

  @Test func `a rejected token is refreshed, and the request is sent again`() async throws {
    let fixture = try await fixture(TokenServer.challenge(Self.invalid))
    #expect(try await send(fixture).status == 200)
    #expect(fixture.requests == ["GET /x T1", "refresh R1", "GET /x T2"])
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `if the new token is also rejected, the caller gets the server's error description`()
    async throws
  {
    let fixture = try await fixture(
      TokenServer.challenge(Self.invalid), TokenServer.challenge(Self.invalid))
    let error = await failure(.invalidToken) { try await send(fixture) }
    #expect(error?.status == 401 && error?.challenge?.error == .invalidToken)
    #expect(error?.challenge?.realm == "r" && error?.challenge?.errorDescription == "old")
    #expect(error?.requiresSignIn == false)
    #expect(fixture.requests == ["GET /x T1", "refresh R1", "GET /x T2"])
    #expect(fixture.memory == "T2 R2", "the API's word does not end the session")
  }

  struct Row: Sendable {
    let status: Int
    let challenge: String?
    let code: SQOAuthError.Code
    var isRetried = false
  }

  @Test(arguments: [
    Row(status: 401, challenge: nil, code: .invalidToken, isRetried: true),
    Row(status: 401, challenge: "Bearer", code: .invalidToken, isRetried: true),
    Row(status: 401, challenge: "bearer realm=x", code: .invalidToken, isRetried: true),
    Row(status: 401, challenge: #"Basic realm="x""#, code: .invalidToken, isRetried: true),
    Row(
      status: 401, challenge: #"Basic realm="x", BEARER ERROR=invalid_token"#, code: .invalidToken,
      isRetried: true),
    Row(
      status: 401, challenge: #"Bearer error="invalid_request""#, code: .invalidRequest),
    Row(
      status: 401, challenge: #"Bearer error="insufficient_user_authentication""#,
      code: .init(rawValue: "insufficient_user_authentication")),
    Row(
      status: 401, challenge: #"Bearer error="insufficient_scope", scope="a b""#,
      code: .insufficientScope),
    Row(
      status: 403, challenge: #"Bearer error="insufficient_scope", scope="a b""#,
      code: .insufficientScope),
  ])
  func `a rejection throws the server's error, after a retry if the token is invalid`(row: Row)
    async throws
  {
    let refusal = TokenServer.challenge(row.challenge, status: row.status)
    let fixture = try await fixture(refusal, refusal)
    let error = await failure(row.code) { try await send(fixture) }
    #expect(error?.status == row.status)
    #expect(fixture.refreshes.count == (row.isRetried ? 1 : 0))
    #expect(fixture.apiRequests.count == (row.isRetried ? 2 : 1))
    if row.code == .insufficientScope { #expect(error?.challenge?.scope == "a b") }
    #expect(fixture.memory == (row.isRetried ? "T2 R2" : "T1 R1"))
  }

  @Test(
    arguments: [
      (403, #"Bearer error="invalid_token""#), (403, nil),
      (400, #"Bearer error="invalid_request""#),
      (404, nil), (500, nil), (503, nil), (407, nil), (302, nil), (204, nil),
    ] as [(Int, String?)])
  func `a response other than a 401 or an insufficient_scope error is returned without a refresh`(
    status: Int, challenge: String?
  ) async throws {
    let fixture = try await fixture(TokenServer.challenge(challenge, status: status))
    #expect(try await send(fixture).status == status)
    #expect(fixture.requests == ["GET /x T1"])
  }

  @Test func `if the repeated request gets insufficient_scope, that error is thrown`() async throws
  {
    let fixture = try await fixture(
      TokenServer.challenge(Self.invalid),
      TokenServer.challenge(#"Bearer error="insufficient_scope""#, status: 403))
    await failure(.insufficientScope) { try await send(fixture) }
    #expect(fixture.requests == ["GET /x T1", "refresh R1", "GET /x T2"])
  }

  @Test func `without a refresh token, the server's rejection is the error`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.launchTokenTimerUpdate(with: SQToken(accessToken: "T"))
    fixture.api { _ in TokenServer.challenge(Self.invalid) }
    let error = await failure(.invalidToken) { try await send(fixture) }
    #expect(error?.challenge?.realm == "r" && fixture.requests == ["GET /x T"])
  }

  @Test func `if the refresh fails, its error is thrown, also for the next request`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.api { _ in TokenServer.challenge(Self.invalid) }
    fixture.server.always(ScriptedTransport.json("", status: 503))
    await failure(.temporarilyUnavailable) { try await send(fixture) }
    await failure(.temporarilyUnavailable) { try await send(fixture) }
    #expect(fixture.requests == ["GET /x T1", "refresh R1", "GET /x T1"])
    #expect(fixture.memory == "T1 R1")
  }

  @Test func `a rejected refresh ends the session, and its error is thrown`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.api { _ in TokenServer.challenge(Self.invalid) }
    fixture.server.always(SessionEndTests.invalidGrant)
    await failure(.invalidGrant) { try await send(fixture) }
    #expect(fixture.memory == nil)
    #expect(await fixture.observer.words(1) == ["ended refused invalid_grant"])
  }

  @Test func `if a refresh returns the same token, the request is sent twice and no more`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.api { _ in TokenServer.challenge(Self.invalid) }
    fixture.server.always(ScriptedTransport.token("T1"))
    await failure(.invalidToken) { try await send(fixture) }
    #expect(fixture.requests == ["GET /x T1", "refresh R1", "GET /x T1"])
  }

  @Test func `the caller gets the transport's error`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.api { _ in throw SQOAuthError(.requestTimedOut, "x") }
    await failure(.requestTimedOut) { try await send(fixture) }
    #expect(fixture.apiRequests.count == 1 && fixture.memory == "T1 R1")
  }

  @Test func `the repeated request differs from the first one only in its token`() async throws {
    let fixture = try await SessionFixture().restored()
    let bodies = Locked<[String]>([])
    // Reads each body to its end, as a transport does.
    fixture.api { request in
      guard case .stream(let length, let makeChunks) = request.body else {
        throw URLError(.unknown)
      }
      let next = makeChunks()
      var text = "\(length ?? -1):"
      while let chunk = try await next() { text += String(decoding: chunk, as: UTF8.self) }
      let isRefused = bodies.withLock { [text] bodies in
        bodies.append(text)
        return bodies.count == 1
      }
      return isRefused ? TokenServer.challenge(Self.invalid) : WebResponse(status: 200)
    }
    var request = try WebRequest.get("https://api.example/x?y=1")
    request.method = "POST"
    request.headers["X"] = "y"
    request.body = .stream(length: 3) {
      let rest = Locked(["a", "bc"])
      return { rest.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
    }
    #expect(try await fixture.module.send(request).status == 200)
    #expect(bodies.withLock(\.self) == ["3:abc", "3:abc"])
    let sent = fixture.apiRequests
    #expect(
      sent.map(\.method) == ["POST", "POST"] && sent.map(\.url).first == sent.map(\.url).last)
    #expect(sent.map { $0.headers["X"] } == ["y", "y"])
    #expect(sent.map { $0.headers["Authorization"] } == ["Bearer T1", "Bearer T2"])
    #expect(sent.allSatisfy { $0.headers.values(for: "Authorization").count == 1 })
    let others = sent.map { request in
      var headers = request.headers
      headers["Authorization"] = nil
      return headers
    }
    #expect(others.first == others.last)
  }

  @Test func `the token can be refreshed while a request is running`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    let slow = Gate()
    slow.close()
    fixture.api { _ in
      await slow.pass()
      return WebResponse(status: 200)
    }
    let caller = begin { try await module.send(.get("https://api.example/x")) }
    try await slow.isHolding()
    #expect(try await module.refresh().accessToken == "T2")
    caller.cancel()
    slow.open()
    _ = try? await caller.value
    #expect(try await module.token().accessToken == "T2")
  }

  /// What happens between a request and the server's answer about its token.
  enum Change: CaseIterable { case signOut, refusal, none }

  @Test(arguments: Change.allCases)
  func `a request of one user is not sent again with another user's token`(
    change: Change
  ) async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    let slow = Gate()
    slow.close()
    fixture.api { _ in
      await slow.pass()
      return TokenServer.challenge(Self.invalid)
    }
    let caller = begin { try await module.send(.get("https://api.example/x")) }
    try await slow.isHolding()
    switch change {
    case .signOut:
      fixture.oauth.userDidSignOut()
    case .refusal:
      fixture.server.next(SessionEndTests.invalidGrant)
      await failure(.invalidGrant) { try await module.refresh() }
    case .none: break
    }
    #expect(try await fixture.oauth.signIn().accessToken == "T2")
    slow.open()
    await failure(.invalidToken) { try await caller.value }
    #expect(fixture.apiRequests.count == 1 && fixture.memory == "T2 R2")
    #expect(!fixture.refreshes.contains("R2"), "another user's token is not spent for it either")
  }

  @Test(arguments: [true, false])
  func `another process's token is used for a rejected request only if the user is the same`(
    isSame: Bool
  ) async throws {
    let fixture = try SessionFixture()
    func store(_ token: SQToken, _ session: String) async {
      await fixture.store.memory.save(
        AccountRecord(id: "default", clientID: "client", session: session, token: token))
    }
    await store(fixture.server.issue(at: fixture.clock.now), "first")
    fixture.api { request in
      request.headers["Authorization"] == "Bearer T1"
        ? TokenServer.challenge(Self.invalid) : WebResponse(status: 200)
    }
    #expect(try await fixture.module.restore())
    await store(fixture.server.issue(at: fixture.clock.now + 1), isSame ? "first" : "second")
    if isSame {
      #expect(try await send(fixture).status == 200)
    } else {
      await failure(.invalidToken) { try await send(fixture) }
      #expect(try await send(fixture).status == 200, "the next request uses the new user's token")
    }
    #expect(fixture.requests == ["GET /x T1", "GET /x T2"])
  }

  @Test func `a server that rejects every token causes one refresh per back-off`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.api { request in
      request.url.host() == "bad.example"
        ? TokenServer.challenge(Self.invalid) : WebResponse(status: 200)
    }
    func ask() async throws {
      await failure(.invalidToken) {
        try await fixture.module.send(.get("https://bad.example/x"))
      }
    }
    for _ in 0..<10 { try await ask() }
    #expect(fixture.refreshes == ["R1"])
    fixture.clock.advance(by: 1)
    for _ in 0..<10 { try await ask() }
    #expect(fixture.refreshes == ["R1", "R2"])
    fixture.clock.advance(by: 1)
    try await ask()
    #expect(fixture.refreshes.count == 2, "the second back-off lasts two seconds")
    fixture.clock.advance(by: 1)
    try await ask()
    #expect(fixture.refreshes.count == 3)
    fixture.clock.advance(by: 65)
    try await ask()
    fixture.clock.advance(by: 1)
    try await ask()
    #expect(fixture.refreshes.count == 5, "after a minute, the back-off starts at one second again")
  }

  @Test func `a server that rejects every token does not prevent a refresh for another server`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    try fixture.module.allowTokens(at: "https://bad.example", "https://api.example")
    fixture.api { _ in TokenServer.challenge(Self.invalid) }
    await failure(.invalidToken) { try await fixture.module.send(.get("https://bad.example/x")) }
    let count = fixture.refreshes.count
    // The second server has not yet rejected a token, so its rejection of T2 causes a refresh.
    fixture.api { request in
      request.headers["Authorization"] == "Bearer T2"
        ? TokenServer.challenge(Self.invalid) : WebResponse(status: 200)
    }
    #expect(try await send(fixture).status == 200)
    #expect(fixture.refreshes.count == count + 1)
    #expect(try await fixture.module.send(.get("https://bad.example/x")).status == 200)
  }

  @Test func `the error does not contain the token that a server repeats`() async throws {
    let fixture = try await SessionFixture().restored()
    let secret = "c4n4ry-access"
    fixture.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: secret, issueDate: fixture.clock.now + 1))
    fixture.api { _ in
      TokenServer.challenge(
        #"Bearer realm="\#(secret)", error="invalid_token", error_description="no \#(secret)""#)
    }
    let error = await failure(.invalidToken) { try await send(fixture) }
    #expect(error?.challenge?.error == .invalidToken)
    #expect(error.map { !everyText(of: $0).contains(secret) } ?? false)
    #expect(error?.challenge.map { !"\($0.parameters)".contains(secret) } ?? false)
  }
}
