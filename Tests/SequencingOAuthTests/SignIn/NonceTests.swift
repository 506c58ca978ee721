import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// The `nonce` of a sign-in, by which an app knows an ID token for the answer to it.
@Suite(.timeLimit(.minutes(1))) struct NonceTests {
  static let token = ScriptedHTTPClient.token(members: #""refresh_token":"R","id_token":"j.w.t""#)

  @Test func `the token has the nonce that the browser was sent with, and no other sign-in's`()
    async throws
  {
    let fixture = try OAuthFixture(answer: Self.token).register(scope: "openid profile")
    var nonces: [String] = []
    for _ in 0..<3 {
      let token = try await fixture.oauth.signIn()
      let page = try #require(fixture.opened.last)
      let nonce = try #require(token.nonce)
      #expect(nonce == page.parameters["nonce"] && nonce != page.state)
      #expect(token.additionalFields["id_token"] == .string("j.w.t"))
      nonces.append(nonce)
    }
    #expect(Set(nonces).count == 3)
  }

  @Test func `without openid there is none`() async throws {
    let fixture = try OAuthFixture(answer: Self.token).register()
    #expect(try await fixture.oauth.signIn().nonce == nil)
    #expect(fixture.opened.first?.parameters["nonce"] == nil)
  }

  @Test func `a refresh and a restart keep it`() async throws {
    let fixture = try OAuthFixture(answer: Self.token).register(scope: "openid")
    let nonce = try #require(try await fixture.oauth.signIn().nonce)
    let refreshed = try await fixture.oauth.module.refresh()
    #expect(refreshed.nonce == nonce && fixture.http.forms.count == 2)
    let restarted = try OAuthFixture(answer: Self.token).register(scope: "openid")
    restarted.oauth.environment.tokenStore = fixture.store
    #expect(try await restarted.oauth.module.restore())
    #expect(restarted.oauth.result.token?.nonce == nonce)
  }

  @Test func `it is encoded with the token, and a token of an older version has none`() throws {
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
