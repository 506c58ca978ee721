import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Nonces that servers demand in proofs (RFC 9449, sections 8 and 9).
@Suite(.timeLimit(.minutes(1))) struct ProofNonceTests {
  @Test func `if the server demands a nonce, the request is repeated once with that nonce`()
    async throws
  {
    let key = try ClientKey(generating: .es256)
    let world = try ProofWorld(pushes: true, clientKey: key)
    world.change { $0.tokenNonce = "one" }
    try await world.signedIn()
    let pushed = world.requests("/par")
    #expect(pushed.map(\.proof?.nonce) == [nil, "one"])
    // The nonce of the first answer serves the next endpoint of this server too.
    #expect(world.requests("/token").map(\.proof?.nonce) == ["one"])
    #expect(Set(pushed.compactMap(\.proof?.id)).count == 2)
    // The repeated request needs another assertion, because a server may accept each assertion only
    // once.
    let assertions = pushed.compactMap { $0.form["client_assertion"] }
    #expect(assertions.count == 2 && Set(assertions).count == 2)
    #expect(pushed[0].form["state"] == pushed[1].form["state"])
  }

  @Test func `if the server demands a new nonce, the new nonce replaces the old one`() async throws
  {
    let world = try await ProofWorld().signedIn()
    world.change { $0.tokenNonce = "one" }
    try await world.module.refresh()
    world.change { $0.tokenNonce = "two" }
    try await world.module.refresh()
    #expect(
      world.requests("/token").map(\.proof?.nonce) == [nil, nil, "one", "one", "two"])
    let tokens = world.requests("/token").compactMap { $0.form["refresh_token"] }
    #expect(tokens == ["R1", "R1", "R2", "R2"])
  }

  @Test func `a nonce in a successful response is used in the next request`() async throws {
    let world = try await ProofWorld().signedIn()
    world.change { $0.nextTokenNonce = "t" }
    try await world.module.refresh()
    try await world.module.refresh()
    #expect(world.requests("/token").map(\.proof?.nonce) == [nil, nil, "t"])
    world.change { $0.nextAPINonce = "a" }
    _ = try await world.send()
    _ = try await world.send()
    #expect(world.requests("/x").map(\.proof?.nonce) == [nil, "a"])
  }

  @Test func `the nonce of one server is not sent to another`() async throws {
    let world = try ProofWorld()
    world.change { ($0.tokenNonce, $0.apiNonce) = ("t", "a") }
    try await world.signedIn()
    _ = try await world.send()
    try world.module.allowTokens(at: "https://other.example")
    _ = try await world.send("https://other.example/x")
    #expect(world.requests("/x").map(\.proof?.nonce) == [nil, "a", nil, "a"])
    #expect(world.requests("/token").map(\.proof?.nonce) == [nil, "t"])
  }

  @Test
  func `a server that never accepts a nonce gets four requests, and the token is not refreshed`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    world.change { $0.neverAgrees = true }
    let error = await failure(.useDPoPNonce) { try await world.send() }
    #expect(error?.message.contains("send fewer requests at once") == true)
    #expect(world.requests("/x").count == 4 && world.requests("/token").count == 1)
    let before = world.requests("/token").count
    await failure(.useDPoPNonce) { try await world.module.refresh() }
    #expect(world.requests("/token").count == before + 4)
    #expect(await world.store.load("default")?.token.refreshToken == "R1")
  }

  /// A successful response to another request may bring a new nonce (RFC 9449, section 8.2).
  @Test(arguments: 1...3)
  func `if the server changes its nonce several times, the request is repeated with the newest one`(
    changes: Int
  ) async throws {
    let world = try await ProofWorld().signedIn()
    world.change { ($0.tokenNonce, $0.apiNonce, $0.nonceChanges) = ("t", "a", changes - 1) }
    #expect(try await world.send().status == 200)
    #expect(world.requests("/x").count == changes + 1)
    world.change { $0.nonceChanges = changes - 1 }
    try await world.module.refresh()
    let refreshes = world.requests("/token").dropFirst()
    #expect(refreshes.count == changes + 1)
    #expect(Set(refreshes.compactMap(\.proof?.id)).count == changes + 1)
    #expect(await world.store.load("default")?.token.refreshToken == "R2")
  }

  @Test(arguments: ["", "GET POST", "G\nET", "é", "CONNECT", "get", "Patch"])
  func `no proof is signed for an invalid method, or for a standard method in the wrong case`(
    method: String
  ) async throws {
    let world = try await ProofWorld().signedIn()
    let url = try #require(URL(string: "https://api.example/x"))
    await failure(.malformedRequest) {
      try await world.module.authorization(for: url, method: method)
    }
    _ = try await world.module.authorization(for: url, method: "QUERY")
    _ = try await world.module.authorization(for: url, method: "custom")
  }

  @Test func `a request is not repeated if the server demands a nonce without sending a new one`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    let api: @Sendable (HeaderFields) -> ScriptedTransport.Answer = { fields in
      { _ in
        var headers = fields
        headers["WWW-Authenticate"] = #"DPoP error="use_dpop_nonce""#
        return WebResponse(status: 401, headers: headers)
      }
    }
    let count = { world.fixture.http.requests.count { $0.url.path() == "/x" } }
    world.fixture.http.answer(api([:]))
    await failure(.useDPoPNonce) { try await world.send() }
    #expect(count() == 1)
    world.fixture.http.answer(api(["DPoP-Nonce": "same"]))
    await failure(.useDPoPNonce) { try await world.send() }
    #expect(count() == 3)
    await failure(.useDPoPNonce) { try await world.send() }
    #expect(count() == 4)
  }

  @Test(arguments: ["DPoP", "dPoP", "dpop"])
  func `a DPoP challenge is recognized in any letter case and after a Bearer challenge`(
    scheme: String
  ) async throws {
    let world = try await ProofWorld().signedIn()
    world.fixture.http.answer { request in
      guard try SentProof(request)?.nonce != "n" else { return WebResponse(status: 200) }
      return WebResponse(
        status: 401,
        headers: [
          "WWW-Authenticate":
            #"Bearer realm="r", error="invalid_token", \#(scheme) error="use_dpop_nonce""#,
          "DPoP-Nonce": "n",
        ])
    }
    #expect(try await world.send().status == 200)
  }

  @Test
  func `a refused token is refreshed once, even if the API and the token endpoint demand nonces`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    world.refuseTokens(1)
    world.change { ($0.apiNonce, $0.tokenNonce) = ("a", "t") }
    #expect(try await world.send().status == 200)
    let api = world.requests("/x")
    #expect(api.map(\.proof?.nonce) == [nil, "a", "a"])
    #expect(api.map { $0.request.headers["Authorization"] } == ["DPoP T1", "DPoP T1", "DPoP T2"])
    #expect(Set(api.compactMap(\.proof?.id)).count == 3)
    #expect(
      api.allSatisfy { $0.proof?.tokenDigest != nil }
        && api[1].proof?.tokenDigest != api[2].proof?.tokenDigest)
    #expect(world.requests("/token").allSatisfy { $0.proof?.tokenDigest == nil })
  }

  /// A server that asks for a nonce after it used up the refresh token would end the sign-in.
  @Test func `the token endpoint's nonce is stored, and a new process begins with it`() async throws
  {
    let world = try ProofWorld()
    world.change { $0.tokenNonce = "kept" }
    try await world.signedIn()
    #expect(await world.store.load("default")?.serverNonce == "kept")
    let other = try ProofWorld()
    other.change { $0.tokenNonce = "kept" }
    await other.store.save(try #require(await world.store.load("default")))
    other.change { $0.nextTokenNonce = "next" }
    try await other.module.refresh()
    #expect(other.requests("/token").map(\.proof?.nonce) == ["kept"])
    #expect(await other.store.load("default")?.serverNonce == "next")
  }

  @Test(arguments: [-600.0, 600])
  func `the client uses the servers' Date fields to correct a clock that is ten minutes wrong`(
    difference: Double
  ) async throws {
    let world = try ProofWorld()
    world.change { $0.clockDifference = difference }
    try await world.signedIn()
    #expect(try await world.send().status == 200)
    #expect(world.requests("/token").count == 2 && world.requests("/x").count == 2)
    try await world.module.refresh()
    #expect(try await world.send().status == 200)
    #expect(world.requests("/token").count == 3 && world.requests("/x").count == 3)
  }

  /// A transport may send an idempotent request twice, with one proof; see RFC 9449, section 11.1.
  @Test(
    arguments: [
      ("GET", 2), ("HEAD", 2), ("PUT", 2), ("DELETE", 2), ("OPTIONS", 2), ("POST", 1), ("PATCH", 1),
      ("QUERY", 1),
    ])
  func `a request with an invalid proof is repeated once if the transport may have sent it twice`(
    method: String, count: Int
  ) async throws {
    let world = try await ProofWorld().signedIn()
    world.fixture.http.answer { _ in
      WebResponse(
        status: 401, headers: ["WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#])
    }
    let url = try #require(URL(string: "https://api.example/x"))
    let error = await failure(.invalidDPoPProof) {
      try await world.module.send(WebRequest(method: method, url: url))
    }
    #expect(error?.challenge?.scheme == "DPoP")
    let sent = world.fixture.http.requests.filter { $0.url.path() == "/x" }
    #expect(sent.count == count)
    // On a new connection, no transport sends a request twice.
    #expect(sent.map(\.needsNewConnection) == Array([false, true].prefix(count)))
    #expect(Set(try sent.compactMap { try SentProof($0)?.id }).count == count)
    #expect(world.requests("/token").count == 1)
  }

  @Test func `if a nonce comes with invalid_dpop_proof, the request is repeated once`() async throws
  {
    let world = try await ProofWorld().signedIn()
    world.fixture.http.answer { request in
      let nonce = try SentProof(request)?.nonce
      return nonce == "n"
        ? WebResponse(status: 200)
        : WebResponse(
          status: 401,
          headers: [
            "WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#, "DPoP-Nonce": "n",
          ])
    }
    let url = try #require(URL(string: "https://api.example/x"))
    let answer = try await world.module.send(WebRequest(method: "POST", url: url))
    let sent = world.fixture.http.requests.filter { $0.url.path() == "/x" }
    #expect(answer.status == 200 && sent.count == 2)
  }

  @Test func `a proof that the server has seen is replaced, and the request succeeds`() async throws
  {
    let world = try await ProofWorld().signedIn()
    let first = Locked<String?>(nil)
    world.fixture.http.answer { request in
      let id = try SentProof(request)?.id
      let isUsed = first.withLock { first in
        first = first ?? id
        return first == id
      }
      guard isUsed else { return WebResponse(status: 200) }
      return WebResponse(
        status: 401, headers: ["WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#])
    }
    #expect(try await world.send().status == 200)
  }

  @Test func `a renewed authorization has the demanded nonce, and the next request uses the nonce`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    world.change { $0.apiNonce = "a" }
    let authorization = try await world.module.authorization(
      for: try #require(URL(string: "https://api.example/x")), method: "POST")
    let renewed = try await authorization.renewed(
      afterStatus: 401,
      fields: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "a"])
    #expect(try SentProof(try #require(renewed?.fields["DPoP"])).nonce == "a")
    #expect(try await world.send().status == 200)
    #expect(world.requests("/x").count == 1)
  }

  @Test func `an authorization's proof names the method, and the URL without its query`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    let authorization = try await world.module.authorization(
      for: try #require(URL(string: "https://api.example/y?z=1")), method: "DELETE")
    let proof = try SentProof(try #require(authorization.fields["DPoP"]))
    #expect(proof["htm"] == "DELETE" && proof["htu"] == "https://api.example/y")
    #expect(authorization.fields["Authorization"] == "DPoP T1")
    #expect(!everyText(of: authorization).contains("T1"))
  }
}
