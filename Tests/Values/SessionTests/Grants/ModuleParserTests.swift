import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// An app's own parser and HTTP client, in sign-ins and refreshes.
@Suite("An app's own parser and HTTP client", .timeLimit(.minutes(1))) struct ModuleParserTests {
  struct Own: TokenResponseParser {
    func token(from response: WebResponse, context: TokenResponseContext) throws -> SQToken {
      struct Body: Decodable {
        let ticket: String
        let next: String
      }
      let body = try JSONDecoder().decode(Body.self, from: response.body)
      return SQToken(
        accessToken: body.ticket, expirationDate: context.receivedAt + 100,
        refreshToken: body.next, issueDate: context.receivedAt,
        additionalFields: ["example_parameter": .string(body.next)])
    }
  }

  static let answer = ScriptedTransport.json(#"{"ticket":"A","next":"B"}"#)

  @Test func `the parser reads the tokens of grants and refreshes`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.environment.tokenResponseParser = Own()
    fixture.server.always(Self.answer)
    let token = try await fixture.oauth.signIn()
    #expect(token.accessToken == "A" && token.additionalFields["example_parameter"] == .string("B"))
    fixture.server.always(ScriptedTransport.json(#"{"ticket":"C","next":"D"}"#))
    fixture.clock.advance(by: 100)
    #expect(try await fixture.module.token().accessToken == "C")
    #expect(fixture.refreshes == ["B"])
    #expect(await fixture.store.content() == "C D")
    #expect(
      await fixture.store.memory.load("default")?.token.additionalFields["example_parameter"]
        == .string("D"))
  }

  @Test func `a refresh keeps the old scope if the parser returns no scope`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.environment.tokenResponseParser = Own()
    fixture.server.always(Self.answer)
    let token = try await fixture.module.refresh()
    #expect(token.scope == "demo" && token.accessToken == "A" && token.refreshToken == "B")
  }

  @Test func `a parser that throws stores nothing and does not end the session`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.environment.tokenResponseParser = Own()
    fixture.server.always(ScriptedTransport.json(#"{"ticket":1}"#))
    let error = await failure(.invalidResponse) { try await fixture.module.refresh() }
    #expect(error?.cause is DecodingError)
    #expect(fixture.memory == "T1 R1" && fixture.store.saves.isEmpty)
    let other = try SessionFixture()
    other.oauth.environment.tokenResponseParser = Own()
    await failure(.invalidResponse) { try await other.oauth.signIn() }
    #expect(other.memory == nil && other.store.saves.isEmpty)
  }

  @Test func `the token has the additional fields of a refresh response`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.change { $0.more = #""example_parameter":[1,"x"]"# }
    let token = try await fixture.module.refresh()
    #expect(token.additionalFields["example_parameter"] == .array([.integer(1), .string("x")]))
    #expect(await fixture.store.memory.load("default")?.token == token)
  }

  @Test func `an HTTP client's invalid status or overlong body causes an error and no crash`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    for status in [0, -1, 99, 600, 1_000] {
      fixture.server.next { _ in WebResponse(status: status) }
      await failure(.invalidResponse) { try await fixture.module.refresh() }
      fixture.clock.advance(by: 100)
    }
    fixture.server.next { _ in
      WebResponse(status: 200, body: Data(repeating: 0x20, count: 2 << 20))
    }
    await failure(.responseTooLarge) { try await fixture.module.refresh() }
    #expect(fixture.memory == "T1 R1")
  }
}
