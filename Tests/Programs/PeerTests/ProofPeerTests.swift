import Foundation
import ProgramSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Proofs, assertions and request objects, verified by two libraries for Python.
@Suite(
  .timeLimit(.minutes(2)),
  .requires("python3-jwt and python3-authlib; run Scripts/install test") {
    try await ChildProcess.run(["/usr/bin/python3", "-c", "import jwt, authlib.jose"]).status == 0
  })
struct ProofPeerTests {
  /// Returns the header and the claims that each library reads, verified with `key` or, without it,
  /// with the key in the header.
  private func read(
    _ text: String, key: JSONValue? = nil
  ) async throws -> [(header: [String: JSONValue], claims: [String: JSONValue])] {
    var question: [String: JSONValue] = ["text": .string(text)]
    question["key"] = key
    let input = String(
      decoding: try JSONEncoder().encode(JSONValue.object(question)), as: UTF8.self)
    let program = PackageSources.root.appending(path: "Tests/Programs/PeerTests/Peers/proof").path
    let result = try await ChildProcess.run(["/usr/bin/python3", program], input: .text(input))
    try #require(result.status == 0, "\(result.errors)")
    return try result.output.split(separator: "\n").map { line in
      let answer = try JSONDecoder().decode([String: JSONValue].self, from: Data(line.utf8))
      return (
        try #require(answer["header"]?.object), try #require(answer["claims"]?.object)
      )
    }
  }

  @Test(arguments: [JWSAlgorithm.es256, .es384, .es512, .edDSA, .ps256])
  func `PyJWT and Authlib verify a DPoP proof`(algorithm: JWSAlgorithm) async throws {
    let app = algorithm == .ps256 ? try MadeKeys.key(for: algorithm) : nil
    let binding = app.map { TokenBinding.dpopKey($0) } ?? .dpop(algorithm: algorithm)
    let prover = try Prover(
      ProofKey(binding, supported: nil), appKey: app, ProofServers(), SystemClock())
    let url = try #require(URL(string: "https://api.example/x?y=1"))
    let proof = try await prover.proof(of: "GET", url, to: .resource, token: "token")
    let answers = try await read(proof.text)
    #expect(answers.count == 2)
    for answer in answers {
      #expect(answer.header["typ"] == "dpop+jwt")
      #expect(answer.header["alg"] == .string(algorithm.rawValue))
      #expect(answer.claims["htm"] == "GET" && answer.claims["htu"] == "https://api.example/x")
      #expect(Set(answer.claims.keys) == ["ath", "htm", "htu", "iat", "jti"])
    }
  }

  @Test func `PyJWT and Authlib verify a client assertion and a request object`() async throws {
    let key = try ClientKey(generating: .es256)
    let client = RegisteredClient(
      configuration: try ClientConfiguration(
        clientID: "client", clientKey: key, redirectURI: "com.example.app:/cb",
        provider: .issuer("https://id.example")),
      environment: ClientEnvironment(),
      metadata: try ProviderMetadata(
        members: [
          "issuer": "https://id.example", "token_endpoint": "https://id.example/token",
          "authorization_endpoint": "https://id.example/authorize",
        ], issuer: "https://id.example"))
    let credentials = try await client.credentials(at: client.metadata.tokenEndpoint)
    let object = try await client.requestObject(
      of: [.init("client_id", "client"), .init("max_age", "60")],
      for: client.metadata.tokenEndpoint)
    let assertions = try await read(try #require(credentials.assertion), key: key.publicJWK)
    #expect(assertions.count == 2)
    for answer in assertions {
      #expect(answer.claims["aud"] == "https://id.example" && answer.header["kid"] != nil)
      #expect(answer.claims["iss"] == "client" && answer.claims["sub"] == "client")
    }
    let objects = try await read(object, key: key.publicJWK)
    #expect(objects.count == 2)
    for answer in objects {
      #expect(answer.header["typ"] == "oauth-authz-req+jwt")
      #expect(answer.claims["max_age"] == 60 && answer.claims["client_id"] == "client")
    }
  }
}
