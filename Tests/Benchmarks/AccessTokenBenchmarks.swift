import FoundationEssentials
import OAuthSandbox
import SQCrypto
import SequencingOAuth
import SequencingOAuthBackend

/// The cost of checking a caller's access token in a service.
struct AccessTokenBenchmarks: Sendable {
  private static let audience = "https://files.example.com"
  private static let count = 500
  static let names = [
    "bearer check, new token", "bearer check, known token", "bearer check, forged token",
    "introspection, known token",
  ]

  private let sandbox: SandboxServer
  private let tokens: [String]
  private let introspector: TokenIntrospector

  /// Starts a sandbox that issues access tokens as JWTs with RS256 signatures.
  init() async throws {
    var options = SandboxOptions()
    options.accessTokenFormat = .jwt(.rs256)
    options.openID.decoyKeys = .none
    let sandbox = try await SandboxServer.start(options)
    self.sandbox = sandbox
    tokens = (0..<Self.count).map { _ in
      sandbox.issueTokens(scopes: ["profile", "demo"], audiences: [Self.audience]).accessToken
    }
    introspector = TokenIntrospector(
      try ClientConfiguration(
        clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
        provider: .issuer(sandbox.issuer.absoluteString)),
      audience: Self.audience)
  }

  func stop() async {
    await sandbox.stop()
  }

  func all() throws -> [Benchmark] {
    let signature = try RawSignature(.rs256)
    let verifications = Benchmark.Peer(name: "bare OpenSSL") {
      try await sample(Self.count) { for _ in 0..<Self.count { try signature.verify() } }
    }
    let forged = tokens.map { token in
      let parts = token.split(separator: ".")
      return "\(parts[0]).\(parts[1].dropLast(4))AAAA.\(parts[2])"
    }
    return [
      Benchmark(
        name: Self.names[0], peer: verifications,
        subject: { try await checks(tokens, by: validator()) }, aim: 0.6),
      Benchmark(
        name: Self.names[1], peer: Benchmark.Peer(name: "a digest of the token", run: digests),
        subject: {
          let validator = try await validator()
          for token in tokens { _ = try await validator.validate(token) }
          return try await checks(tokens, by: validator)
        }),
      Benchmark(
        name: Self.names[2], peer: verifications,
        subject: {
          let validator = try await validator()
          return try await sample(Self.count) {
            for token in forged where (try? await validator.validate(token)) != nil {
              throw BenchmarkError("a forged token was accepted")
            }
          }
        }),
      Benchmark(
        name: Self.names[3], peer: Benchmark.Peer(name: "a digest of the token", run: digests),
        subject: {
          for token in tokens { _ = try await introspector.claims(of: token) }
          return try await sample(Self.count) {
            for token in tokens { _ = try await introspector.claims(of: token) }
          }
        }),
    ]
  }

  /// Returns a new validator that has fetched the keys and has not seen any token.
  private func validator() async throws -> AccessTokenValidator {
    let validator = try AccessTokenValidator(
      provider: .issuer(sandbox.issuer.absoluteString), audience: Self.audience)
    try await validator.prepare()
    return validator
  }

  private func checks(
    _ tokens: [String], by validator: AccessTokenValidator
  ) async throws -> Benchmark.Sample {
    try await sample(tokens.count) {
      for token in tokens { _ = try await validator.validate(token) }
    }
  }

  @Sendable private func digests() async throws -> Benchmark.Sample {
    try await sample(Self.count) {
      for token in tokens where Digest.sha256(token).count != 32 {
        throw BenchmarkError("no digest")
      }
    }
  }
}
