import FoundationEssentials
import OAuthSandbox
import SequencingOAuth

/// Benchmarks of validating an ID token of the sandbox, with keys already loaded.
///
/// The SDK and each other library check the signature, the issuer, the audience and the times. The
/// SDK also checks the nonce and the digest of the access token.
struct SandboxIDToken: Sendable {
  private static let count = 2000

  private let algorithm: RawSignature.Algorithm
  private let sandbox: SandboxServer
  private let token: SQToken
  private let validator: IDTokenValidator
  private let nonce = "n-0S6_WzA2Mj"
  private let keySet: String

  /// Signs alice in at a sandbox that signs ID tokens with the algorithm.
  init(_ algorithm: RawSignature.Algorithm) async throws {
    self.algorithm = algorithm
    var client = SandboxClient.app
    client.idTokenAlgorithm = algorithm.ofSandbox
    var options = SandboxOptions()
    options.clients = [client]
    options.openID.decoyKeys = .none
    sandbox = try await SandboxServer.start(options)

    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    var configuration = try ClientConfiguration(
      clientID: client.id, redirectURI: "http://127.0.0.1/callback", scope: "openid profile",
      provider: .issuer(sandbox.issuer.absoluteString))
    configuration.idTokenAlgorithm = JWSAlgorithm(rawValue: algorithm.rawValue)
    let module = AuthorizationModule(configuration: configuration, environment: environment)
    var question = SignInOptions()
    question.nonce = nonce
    token = try await module.signIn(with: question)
    validator = try IDTokenValidator(
      configuration, try await module.providerMetadata(), environment)
    keySet = try await environment.transport.send(WebRequest(url: sandbox.keysEndpoint))
      .body.base64EncodedString()
  }

  func stop() async {
    await sandbox.stop()
  }

  /// Returns the rows for bare OpenSSL and for each of the other libraries.
  func all(_ libraries: JOSELibraries) throws -> [Benchmark] {
    let bare = try RawSignature(algorithm)
    let openSSL = Benchmark.Peer(name: "bare OpenSSL") {
      try await sample(Self.count) { for _ in 0..<Self.count { try bare.verify() } }
    }
    let line = [sandbox.issuer.absoluteString, SandboxClient.app.id, keySet, try text]
      .joined(separator: " ")
    return [Benchmark(name: name, peer: openSSL, subject: validations)]
      + libraries.validations(line, Self.count).map {
        Benchmark(name: name, peer: $0, subject: validations, aim: 1)
      }
  }

  private var name: String { "ID token, \(algorithm.rawValue)" }

  private var text: String {
    get throws {
      guard let idToken = token.idToken else { throw BenchmarkError("no ID token") }
      return idToken.compactForm
    }
  }

  private func validations() async throws -> Benchmark.Sample {
    let text = try text
    let expectation = IDTokenExpectation(accessToken: token.accessToken, nonce: .required(nonce))
    return try await sample(Self.count) {
      for _ in 0..<Self.count { _ = try await validator.validate(text, expectation) }
    }
  }
}
