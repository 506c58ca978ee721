import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The `nonce` of a sign-in, which links an ID token to its request.
@Suite(.timeLimit(.minutes(1))) struct NonceTests {
  @Test func `each sign-in sends a new nonce, which its token then has`() async throws {
    let fixture = try await SandboxFixture().register(scope: "openid profile")
    var nonces: [String] = []
    for _ in 0..<3 {
      let token = try await fixture.oauth.signIn()
      let request = try #require(fixture.sandbox.requests(to: .authorization).last)
      let nonce = try #require(token.nonce)
      #expect(nonce == request.query("nonce") && nonce != request.query("state"))
      #expect(token.additionalFields["id_token"] == .string(token.idToken?.compactForm ?? ""))
      nonces.append(nonce)
    }
    #expect(Set(nonces).count == 3)
  }

  @Test func `without the openid scope there is no nonce`() async throws {
    let answer = ScriptedTransport.token(members: #""refresh_token":"R","id_token":"j.w.t""#)
    let fixture = try OAuthFixture(answer: answer).register()
    let token = try await fixture.oauth.signIn()
    #expect(token.nonce == nil && token.idToken == nil)
    #expect(token.additionalFields["id_token"] == .string("j.w.t"))
    #expect(fixture.opened.first?.parameters["nonce"] == nil)
  }

  @Test func `a refreshed token and its stored record keep the nonce`() async throws {
    let fixture = try await SandboxFixture().register(scope: "openid")
    let store = MemoryTokenStore()
    fixture.oauth.environment.tokenStore = store
    let nonce = try #require(try await fixture.oauth.signIn().nonce)
    #expect(try await fixture.oauth.module.refresh().nonce == nonce)
    let record = try #require(await store.load("default"))
    #expect(record.token.nonce == nonce)
  }

  @Test func `a token is encoded with its nonce, and decoded without one from older JSON`() throws {
    let token = SQToken(accessToken: "a", nonce: "n-0S6_WzA2Mj")
    let json = try JSONEncoder().encode(token)
    #expect(try JSONDecoder().decode(SQToken.self, from: json) == token)
    #expect(token != SQToken(accessToken: "a"))
    #expect(!everyText(of: token).contains("n-0S6_WzA2Mj"))
    let old = Data(#"{"access_token":"a","token_type":"Bearer"}"#.utf8)
    #expect(try JSONDecoder().decode(SQToken.self, from: old).nonce == nil)
    let without = String(
      decoding: try JSONEncoder().encode(SQToken(accessToken: "a")), as: UTF8.self)
    #expect(!without.contains("nonce"))
  }
}
