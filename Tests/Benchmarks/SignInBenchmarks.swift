import FoundationEssentials
import OAuthSandbox
import SQLoopback
import SequencingOAuth
import SequencingOAuthBackend

/// The cost of a sign-in compared with its bare HTTP exchanges, at the sandbox.
enum SignInBenchmarks {
  static func all(_ sandbox: SandboxServer) throws -> [Benchmark] {
    let signature = try RawSignature(.rs256)
    return [
      benchmark("sign-in, from call to token", { try client(of: sandbox, scope: "demo") }) {
        try await bareSignIn(sandbox, scope: "demo")
      },
      benchmark("sign-in with openid", { try client(of: sandbox, scope: "openid demo") }) {
        try await bareSignIn(sandbox, scope: "openid%20demo")
        _ = try await RawCurl.sequential(sandbox.keysEndpoint.absoluteString, 1)
        try signature.verify()
      },
      try webSignIn(sandbox, signature),
    ]
  }

  /// Measures sign-ins to a web application, with and without the SDK.
  ///
  /// In both cases, a ``SandboxVisitor`` acts as the user.
  private static func webSignIn(
    _ sandbox: SandboxServer, _ signature: RawSignature
  ) throws -> Benchmark {
    let configuration = try ClientConfiguration(
      clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "openid demo",
      provider: .issuer(sandbox.issuer.absoluteString))
    let manager = AccountManager(store: MemoryTokenStore())
    return Benchmark(
      name: "web sign-in, begin and finish",
      peer: Benchmark.Peer(name: "bare exchanges") {
        try await sample(40) {
          for _ in 0..<40 {
            let code = try await bareCode(
              sandbox, scope: "openid%20demo", redirectURI: "http%3A%2F%2F127.0.0.1%2Fcallback",
              by: SandboxVisitor(followsRedirects: false))
            try await redeem(code, sandbox, redirectURI: "http%3A%2F%2F127.0.0.1%2Fcallback")
            try signature.verify()
          }
        }
      },
      subject: {
        try await sample(40) {
          for _ in 0..<40 {
            let (url, signIn) = try await manager.beginSignIn(configuration)
            let redirect = try await SandboxVisitor(followsRedirects: false).visit(url).redirect
            _ = try await manager.finishSignIn(signIn, redirect: redirect, configuration)
          }
        }
      }, aim: 0.9)
  }

  private static func benchmark(
    _ name: String, _ client: @escaping @Sendable () throws -> SQOAuth,
    besideBare bare: @escaping @Sendable () async throws -> Void
  ) -> Benchmark {
    Benchmark(
      name: name,
      peer: Benchmark.Peer(name: "bare exchanges") {
        try await sample(40) { for _ in 0..<40 { try await bare() } }
      },
      subject: {
        let clients = try (0..<40).map { _ in try client() }
        return try await sample(40) { for client in clients { _ = try await client.signIn() } }
      }, aim: 0.9)
  }

  /// Returns a client for the SDK's complete flow.
  ///
  /// A new visitor acts as the user. Each client has its own environment, so with `openid` each
  /// fetches the keys.
  private static func client(of sandbox: SandboxServer, scope: String) throws -> SQOAuth {
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    let oauth = SQOAuth(environment: environment)
    oauth.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: scope,
        provider: .endpoints(
          authorization: sandbox.authorizationEndpoint.absoluteString,
          token: sandbox.tokenEndpoint.absoluteString, jwks: sandbox.keysEndpoint.absoluteString,
          issuer: sandbox.issuer.absoluteString)))
    return oauth
  }

  /// Signs in without the SDK: requests the pages, sends the redirect and redeems the code.
  private static func bareSignIn(_ sandbox: SandboxServer, scope: String) async throws {
    let receiver = try LoopbackServer { _ in
      .response(LoopbackResponse(status: 200, body: Data("Done.".utf8), closesConnection: true))
    }
    let redirectURI = "http%3A%2F%2F127.0.0.1%3A\(receiver.port)%2Fcallback"
    let code = try await bareCode(sandbox, scope: scope, redirectURI: redirectURI)
    try await redeem(code, sandbox, redirectURI: redirectURI)
    await receiver.stop()
  }

  // The example of RFC 7636, appendix B.
  private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  /// Requests the pages without the SDK, and returns the code in the redirect.
  private static func bareCode(
    _ sandbox: SandboxServer, scope: String, redirectURI: String,
    by visitor: SandboxVisitor = SandboxVisitor()
  ) async throws -> Substring {
    let address =
      "\(sandbox.authorizationEndpoint.absoluteString)?response_type=code&client_id=sandbox-app"
      + "&redirect_uri=\(redirectURI)&scope=\(scope)&state=s&nonce=n"
      + "&code_challenge=\(challenge)&code_challenge_method=S256"
    guard let url = URL(string: address),
      let code = try await visitor.visit(url).redirect.split(separator: "code=").last?
        .prefix(while: { $0 != "&" })
    else { throw BenchmarkError("the visitor was not sent back") }
    return code
  }

  private static func redeem(
    _ code: Substring, _ sandbox: SandboxServer, redirectURI: String
  ) async throws {
    _ = try await RawCurl.posts(
      RawCurl.Post(
        url: sandbox.tokenEndpoint.absoluteString,
        body: "grant_type=authorization_code&code=\(code)&redirect_uri=\(redirectURI)"
          + "&code_verifier=\(verifier)&client_id=sandbox-app"), 1)
  }
}
