import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// Requests with a form when the API rejects their token.
///
/// An app's own HTTP client sends them.
@Suite(.timeLimit(.minutes(1))) struct FormRefreshTests {
  /// Returns a session whose API rejects the first token, before or after it reads the form.
  private func fixture(reads: Bool) async throws -> (SessionFixture, bodies: Bodies) {
    let fixture = try await SessionFixture().restored()
    let bodies = Bodies()
    fixture.api { request in
      let isRefused = bodies.all.isEmpty
      bodies.add(reads || !isRefused ? try await Self.read(request.body) : Data())
      return isRefused
        ? TokenServer.challenge(#"Bearer error="invalid_token""#) : WebResponse(status: 200)
    }
    return (fixture, bodies)
  }

  private func request(_ form: MultipartForm) throws -> WebRequest {
    var request = try WebRequest.get("https://api.example/x")
    request.method = "POST"
    try request.setForm(form)
    return request
  }

  private static func read(_ body: WebRequestBody) async throws -> Data {
    guard case .stream(_, let makeChunks) = body else { throw Unexpected() }
    let next = makeChunks()
    var all = Data()
    while let chunk = try await next() { all += chunk }
    return all
  }

  private struct Unexpected: Error {}

  @Test func `a repeatable form is sent again in full after a refresh`() async throws {
    let (fixture, bodies) = try await fixture(reads: true)
    let request = try request([
      .field("a", "b"), .stream("s") { OneChunk("abc").next }, .data("d", Data(count: 100_000)),
    ])
    #expect(try await fixture.module.send(request).status == 200)
    #expect(fixture.requests == ["POST /x T1", "refresh R1", "POST /x T2"])
    #expect(bodies.all.count == 2 && Set(bodies.all).count == 1)
  }

  @Test func `a request whose one-time stream was already read fails, but the token is refreshed`()
    async throws
  {
    let (fixture, _) = try await fixture(reads: true)
    let request = try request([.field("a", "b"), .stream("s", once: OneChunk("abc").next)])
    await failure(.bodyNotReplayable) { try await fixture.module.send(request) }
    #expect(fixture.requests == ["POST /x T1", "refresh R1"])
  }

  @Test func `a one-time stream that was not yet read is sent after the refresh`() async throws {
    let (fixture, bodies) = try await fixture(reads: false)
    let request = try request([.field("a", "b"), .stream("s", once: OneChunk("abc").next)])
    #expect(try await fixture.module.send(request).status == 200)
    #expect(fixture.requests == ["POST /x T1", "refresh R1", "POST /x T2"])
    #expect(String(decoding: try #require(bodies.all.last), as: UTF8.self).contains("abc"))
  }

  private final class Bodies: Sendable {
    private let bodies = Locked<[Data]>([])
    var all: [Data] { bodies.withLock { $0 } }
    func add(_ body: Data) { bodies.withLock { $0.append(body) } }
  }
}
