import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import ProgramSupport
import Testing

@testable import TestSupport

/// The server as seen by other client implementations.
@Suite(.timeLimit(.minutes(2))) struct PeerTests {
  /// The result of a call as grpcio reports it.
  private struct Outcome: Decodable {
    let code: String
    let details: String
    let messages: [String]
    let metadata: [[String]]

    func answers() throws -> [Answer] { try messages.map { try Answer(Data(hexadecimal: $0)) } }

    var challenge: String? { metadata.first { $0[0] == "www-authenticate" }?[1] }
  }

  private struct Question: Encodable {
    struct Call: Encodable {
      var method = Method.unaryCall
      var kind = "unary"
      var request = everything.hexadecimal
      var metadata: [[String]] = []
      var timeout: Double?
      var compression: String?
      var read: Int?
      var times: Int?

      static func stream(_ responses: [(size: Int, microseconds: Int)]) -> Call {
        Call(
          method: Method.stream, kind: "stream", request: streamRequest(responses).hexadecimal)
      }

      func with(_ token: String) -> Call {
        var call = self
        call.metadata = [["authorization", "Bearer " + token]]
        return call
      }

      func changing(_ change: (inout Call) -> Void) -> Call {
        var call = self
        change(&call)
        return call
      }
    }

    let target: String
    let calls: [Call]
  }

  private func ask(_ fixture: Fixture, _ calls: [Question.Call]) async throws -> [Outcome] {
    let question = Question(target: "127.0.0.1:\(fixture.port)", calls: calls)
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Peers/call").path
    let text = String(decoding: try JSONEncoder().encode(question), as: UTF8.self)
    let result = try await ChildProcess.run([script], input: .text(text))
    try #require(result.status == 0, "\(result.errors)")
    return try result.output.split(separator: "\n").map {
      try JSONDecoder().decode(Outcome.self, from: Data($0.utf8))
    }
  }

  @Test(.requiresGRPCIO) func `a grpcio client gets single answers and streams from the sandbox`()
    async throws
  {
    try await Fixture.running { fixture in
      let token = fixture.sandbox.issueTokens(for: "bob", scopes: ["demo"]).accessToken
      let bob = Answer(user: "bob", scope: "demo")
      let outcomes = try await ask(
        fixture,
        [
          Question.Call().with(token),
          .stream([(3, 0), (0, 1000), (200_000, 0)]).with(token),
          .stream([]).with(token),
          .stream(Array(repeating: (0, 0), count: 3000)).with(token),
        ])
      #expect(outcomes.map(\.code) == ["OK", "OK", "OK", "OK"], "\(outcomes.map(\.details))")
      #expect(try outcomes[0].answers() == [bob])
      let sizes = try outcomes[1].answers().map { $0.payload?.count ?? 0 }
      #expect(sizes == [3, 0, 200_000])
      #expect(outcomes[2].messages.isEmpty && outcomes[3].messages.count == 3000)
      #expect(try outcomes[3].answers().allSatisfy { $0 == bob })
    }
  }

  @Test(.requiresGRPCIO) func `simultaneous calls of a grpcio client to the sandbox all succeed`()
    async throws
  {
    try await Fixture.running { fixture in
      let token = fixture.sandbox.issueTokens().accessToken
      let outcomes = try await ask(
        fixture,
        [
          Question.Call().with(token).changing { $0.times = 200 },
          .stream([(100, 500), (100, 500), (100, 500)]).with(token).changing { $0.times = 60 },
        ])
      #expect(outcomes.count == 260 && outcomes.allSatisfy { $0.code == "OK" })
      #expect(outcomes.suffix(60).allSatisfy { $0.messages.count == 3 })
    }
  }

  @Test(.requiresGRPCIO) func `a grpcio client gets the status and the challenge of each failure`()
    async throws
  {
    try await Fixture.running(scope: "demo") { fixture in
      let token = fixture.sandbox.issueTokens().accessToken
      let narrow = fixture.sandbox.issueTokens(scopes: ["profile"]).accessToken
      let outcomes = try await ask(
        fixture,
        [
          Question.Call(), Question.Call().with("unknown"), Question.Call().with(narrow),
          Question.Call().with(token).changing { $0.method = "/grpc.testing.TestService/Other" },
          Question.Call().with(token).changing { $0.request = "20" },
          Question.Call().with(token).changing { $0.request = "28" + "28" * 4_194_304 },
          Question.Call().with(token).changing {
            $0.request = "28" * 1000
            $0.compression = "gzip"
          },
          .stream([(0, 0), (0, 2_000_000_000)]).with(token).changing { $0.timeout = 5 },
          .stream([(0, 0), (0, 0), (0, 2_000_000_000)]).with(token).changing { $0.read = 2 },
          .stream([(0, 0), (-1, 0)]).with(token),
        ])
      #expect(
        outcomes.map(\.code) == [
          "UNAUTHENTICATED", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "INTERNAL",
          "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "DEADLINE_EXCEEDED", "CANCELLED",
          "INVALID_ARGUMENT",
        ], "\(outcomes.map(\.details))")
      #expect(outcomes[0].challenge == "Bearer realm=\"sandbox\"")
      #expect(
        outcomes[1].challenge == """
          Bearer realm="sandbox", error="invalid_token", \
          error_description="The access token is unknown, expired or revoked."
          """)
      #expect(outcomes[1].details == "The access token is unknown, expired or revoked.")
      #expect(outcomes[2].challenge?.contains("insufficient_scope") == true)
      #expect(outcomes[2].challenge?.hasSuffix(", scope=\"demo\"") == true)
      #expect(outcomes[3...].allSatisfy { $0.challenge == nil })
      #expect(outcomes[7].messages.count == 1 && outcomes[8].messages.count == 2)
    }
  }

  @Test(.requires(ProgramRequirement(programs: ["curl"])))
  func `curl makes a gRPC call and gets an HTTP error for a request that is not gRPC`() async throws
  {
    try await Fixture.running { fixture in
      let folder = try TemporaryFolder()
      try Data([0, 0, 0, 0, 4, 0x20, 1, 0x28, 1]).write(
        to: URL(filePath: folder.file("request")))
      let token = fixture.sandbox.issueTokens(scopes: ["demo"]).accessToken
      let curl = ["curl", "-sS", "--noproxy", "*", "--http2-prior-knowledge", "--max-time", "30"]
      let url = fixture.server.url.absoluteString + Method.unaryCall
      let call = try await ChildProcess.run(
        curl + [
          "-D", folder.file("head"), "-H", "content-type: application/grpc", "-H", "te: trailers",
          "-H", "authorization: Bearer " + token, "--data-binary", "@" + folder.file("request"),
          url,
        ])
      #expect(call.status == 0 && call.output.hasSuffix("\u{12}\u{5}alice\u{1A}\u{4}demo"))
      let head = try String(contentsOfFile: folder.file("head"), encoding: .utf8)
      #expect(head.hasPrefix("HTTP/2 200") && head.contains("grpc-status: 0"), "\(head)")
      for (options, status) in [([], "405"), (["-d", "a=b"], "415"), (["-I"], "405")] {
        let page = try await ChildProcess.run(
          curl + options + ["-o", folder.file("page"), "-w", "%{http_code}", url])
        #expect(page.output == status && page.status == 0, "\(options) \(page)")
      }
    }
  }

  @Test(.requires(ProgramRequirement(programs: ["nghttp"])))
  func `fifty calls of nghttp on one connection all succeed`() async throws {
    try await Fixture.running { fixture in
      let folder = try TemporaryFolder()
      try Data([0, 0, 0, 0, 2, 0x20, 1]).write(to: URL(filePath: folder.file("request")))
      let token = fixture.sandbox.issueTokens().accessToken
      let result = try await ChildProcess.run([
        "nghttp", "-nv", "-m", "50", "-t", "30", "-d", folder.file("request"), "-H",
        "content-type: application/grpc", "-H", "authorization: Bearer " + token,
        fixture.server.url.absoluteString + Method.unaryCall,
      ])
      #expect(result.output.matches(of: /grpc-status: 0/).count == 50, "\(result)")
      #expect(!result.output.contains("recv RST_STREAM") && fixture.server.calls.count == 50)
    }
  }
}

extension Data {
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  init(hexadecimal text: String) {
    let digits = Array(text.utf8)
    self.init(
      stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
      })
  }
}

extension String {
  /// Repeats the text.
  fileprivate static func * (text: String, count: Int) -> String {
    String(repeating: text, count: count)
  }
}
