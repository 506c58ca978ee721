import FoundationEssentials
import SequencingOAuth
import SequencingOAuthPipes

/// Benchmarks of DPoP proofs, alone and in requests with a bound token.
enum ProofBenchmarks {
  private static let count = 4000

  static func all(_ server: ByteServer, _ libraries: JOSELibraries) async throws -> [Benchmark] {
    let url = try server.url
    let bound = try await module(isBound: true)
    let bearer = try await module(isBound: false)
    let alone = "read with a proof, one after the other"
    let together = "read with a proof, 64 at once"
    let signature = try RawSignature(.es256)
    let proofs: Benchmark.Run = {
      try await sample(count) {
        for _ in 0..<count { _ = try await bound.authorization(for: url, method: "GET") }
      }
    }
    // A proof costs at least its signature, so a Bearer request and a signature are the limit.
    let limit = "the same, and OpenSSL's signature"
    return [
      Benchmark(
        name: "proof, ES256",
        peer: .init(name: "a bare signature by OpenSSL") {
          try await sample(count) { for _ in 0..<count { try signature.sign() } }
        },
        subject: proofs, aim: 0.5),
      Benchmark(
        name: "proof, ES256", peer: libraries.proofs(url.absoluteString, count),
        subject: proofs, aim: 1),
      Benchmark(
        name: alone,
        peer: .init(name: "the same with a Bearer token") {
          try await AuthorizedReads.reads(url, 2000, width: 1, by: bearer)
        },
        subject: { try await AuthorizedReads.reads(url, 2000, width: 1, by: bound) }, aim: 0.7),
      Benchmark(
        name: alone,
        peer: .init(name: limit) {
          try await AuthorizedReads.reads(url, 2000, width: 1, by: bearer, after: signature.sign)
        },
        subject: { try await AuthorizedReads.reads(url, 2000, width: 1, by: bound) }, aim: 0.9),
      Benchmark(
        name: together,
        peer: .init(name: "the same with a Bearer token") {
          try await AuthorizedReads.reads(url, 6400, width: 64, by: bearer)
        },
        subject: { try await AuthorizedReads.reads(url, 6400, width: 64, by: bound) }, aim: 0.7),
      Benchmark(
        name: together,
        peer: .init(name: limit) {
          try await AuthorizedReads.reads(url, 6400, width: 64, by: bearer, after: signature.sign)
        },
        subject: { try await AuthorizedReads.reads(url, 6400, width: 64, by: bound) }, aim: 0.9),
    ]
  }

  /// Returns an account with a valid token, and with its key if the token is bound to one.
  private static func module(isBound: Bool) async throws -> AuthorizationModule {
    let token: [String: JSONValue] = [
      "access_token": "access", "refresh_token": "refresh", "additional_fields": [:],
      "token_type": isBound ? "DPoP" : "Bearer",
    ]
    let key = try ClientKey(generating: .es256).pem().split(separator: "\n")
      .filter { !$0.hasPrefix("-----") }.joined()
    var record: [String: JSONValue] = [
      "id": "default", "client_id": "sandbox-app", "issuer": "https://id.example",
      isBound ? "bound_token" : "token": .object(token),
    ]
    if isBound { record["proof_key"] = ["alg": "ES256", "key": .string(key)] }
    let module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-app", provider: .issuer("https://id.example")))
    try await module.environment.tokenStore.save(
      try JSONDecoder().decode(
        AccountRecord.self, from: try JSONEncoder().encode(JSONValue.object(record))))
    try await module.restore()
    return module
  }
}
