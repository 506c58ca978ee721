import Foundation
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Errors are written to logs, so they must not show the secrets of a request or response.
@Suite struct ErrorTextTests {
  static let canary = "C4N4RY"

  /// An error of an app or a server whose description contains a secret.
  struct Talkative: Error, CustomStringConvertible {
    var description: String { ErrorTextTests.canary }
    let secret = ErrorTextTests.canary
  }

  static func expectSilence(
    _ error: SQOAuthError?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard let error else { return }
    let text = everyText(of: error)
    #expect(!text.contains(canary), "\(text)", sourceLocation: sourceLocation)
  }

  @Test func `the cause of an error is not printed`() {
    Self.expectSilence(SQOAuthError(.storeFailed, "it failed", cause: Talkative()))
    Self.expectSilence(
      SQOAuthError(
        .storeFailed, "outer", cause: SQOAuthError(.storeFailed, "x", cause: Talkative())))
  }

  @Test func `the error of a custom store is not printed`() async {
    struct Store: TokenStore {
      func load(_ id: String) async throws -> AccountRecord? { throw Talkative() }
      func save(_ record: AccountRecord) async throws { throw Talkative() }
      func erase(_ id: String) async throws { throw Talkative() }
      func list() async throws -> [String] { throw Talkative() }
    }
    let error = await failure(.storeFailed) {
      var environment = ClientEnvironment()
      environment.tokenStore = Store()
      let context = ClientContext(.failure(.notSignedIn), environment)
      let session = TokenSession(context, accountID: "a")
      try await session.takeOver(
        AccountRecord(id: "a", clientID: "c", token: PrintingTests.token),
        since: session.appEndCount
      )
      try await session.flush()
    }
    Self.expectSilence(error)
    #expect(error?.cause is Talkative)
  }

  @Test func `the error of a custom HTTP client is not printed`() async {
    struct Client: HTTPTransport {
      func send(_ request: WebRequest) async throws -> WebResponse { throw Talkative() }
    }
    let error = await failure(.connectionFailed) {
      try await Client().exchange(PrintingTests.request)
    }
    Self.expectSilence(error)
    #expect(error?.cause is Talkative)
  }

  /// A secret in a wrong place of the configuration is still a secret.
  @Test(arguments: [
    "https://user:C4N4RY@s.example/t", "https://s.example/t?key=C4N4RY#x",
    "http://s.example/t?key=C4N4RY",
  ])
  func `the error of a rejected URL contains no password, query or fragment`(url: String) {
    Self.expectSilence(failure { try EndpointURL.check(url, name: "token endpoint") })
    Self.expectSilence(failure { try RedirectURI(url) })
    Self.expectSilence(
      failure {
        try ClientConfiguration(
          clientID: "id", clientSecret: Self.canary, redirectURI: "http://127.0.0.1/",
          provider: .endpoints(authorization: url, token: url))
      })
  }

  /// A combining mark after a delimiter must not hide it.
  @Test(arguments: [
    "https://s.example/a?C4N4RY", "https://s.example/a?\u{301}C4N4RY",
    "https://s.example/a#\u{301}C4N4RY", "https://user:C4N4RY@s.example/a",
    "https://\u{301}user:C4N4RY@s.example/a", "https://user:C4N4RY@\u{301}s.example/a",
    "//C4N4RY@s.example/\u{301}a",
  ])
  func `the error of a redirect answer has its target without user and query`(location: String) {
    let error = SQOAuthError.failure(
      of: "the endpoint", WebResponse(status: 302, headers: ["Location": location]),
      now: Answer.now, removing: SentSecrets([]))
    #expect(error.code == .redirectRefused && error.message.contains("s.example"))
    Self.expectSilence(error)
  }

  @Test func `the error of a configuration does not contain the secret`() {
    for (id, redirect, method) in [
      ("", "http://127.0.0.1/", ClientAuthentication.basic), ("id", "", .basic),
      ("id", "http://127.0.0.1/", .init(rawValue: "private_key_jwt")),
    ] {
      Self.expectSilence(
        failure {
          try ClientConfiguration(
            clientID: id, clientSecret: Self.canary, redirectURI: redirect,
            provider: .google, clientAuthentication: method,
            authorizationParameters: ["x": Self.canary])
        })
    }
    Self.expectSilence(
      failure {
        try ClientConfiguration(
          clientID: "id", redirectURI: "http://127.0.0.1/", provider: .google,
          tokenParameters: ["code": Self.canary])
      })
  }

  @Test(arguments: [
    "state=S&access_token=C4N4RY", "state=S&code=C4N4RY&code=C4N4RY", "state=S&code=C4N4RY%00",
    "state=S&code=C4N4RY&error=x", "state=S&code=C4N4RY&iss=https://evil.example/C4N4RY",
    "state=S&code=C4N4RY#access_token=C4N4RY", "state=S&response=C4N4RY", "state=S&C4N4RY",
  ])
  func `the error of a redirect does not contain the redirect`(query: String) {
    let redirect = Redirect(issuer: Redirect.issuer, requiresIssuer: true)
    let answered = query.replacingOccurrences(of: "state=S", with: "state=\(Redirect.state)")
    let error = redirect.response("\(redirect.redirectURI)?\(answered)").error
    #expect(error != nil)
    Self.expectSilence(error)
  }

  @Test(arguments: [
    #"{"access_token":"C4N4RY"}"#, #"{"access_token":"C4N4RY","token_type":"mac"}"#,
    #"{"access_token":"C4N4RY\n","token_type":"bearer"}"#, #"{"C4N4RY":"#, "C4N4RY",
    #"{"access_token":"C4N4RY","token_type":"bearer","expires_in":"C4N4RY"}"#,
    #"{"access_token":"C4N4RY","token_type":"bearer","refresh_token":"C4N4RY\n"}"#,
    #"{"access_token":{"C4N4RY":1},"token_type":"bearer"}"#,
  ])
  func `the error of a token response does not contain the response`(body: String) {
    for (status, type) in [(200, "application/json"), (200, "text/html"), (400, "text/html")] {
      Self.expectSilence(failure { try Answer.read(body, status: status, type: type) })
    }
  }

  /// Returns the errors of all readers for responses that repeat a secret of their request.
  private static func errors(
    ofResponsesWith secret: String
  ) async throws -> [String: SQOAuthError?] {
    var configuration = try ClientConfiguration(
      clientID: "app", clientSecret: String(repeating: "s", count: 32),
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/t",
        introspection: "https://id.example/i", userInfo: "https://id.example/u",
        issuer: "https://id.example"))
    configuration.idTokenAlgorithm = .hs256
    let client = RegisteredClient(
      configuration: configuration, environment: ClientEnvironment(),
      metadata: try #require(configuration.metadata))
    let response = Answer.http("{}", type: secret)
    let idToken = IDToken(
      validated: try IDTokenClaims([
        "iss": "https://id.example", "sub": "alice", "aud": "app", "exp": 1, "iat": 1,
      ]), compactForm: "a.b.c")
    let introspection = IntrospectionResponse(
      request: try await IntrospectionRequest(secret, by: client, wantsSignature: false),
      client: client, requiresTokenType: false)
    let signatures = try client.signatures()
    let registration = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([secret]), now: Answer.now)
    let token = TokenResponse(
      parser: StandardTokenResponseParser(),
      context: .init(receivedAt: Answer.now, requestedScope: nil),
      request: TokenRequest(
        endpoint: client.metadata.tokenEndpoint,
        parameters: [.init("grant_type", "refresh_token"), .init("refresh_token", secret)],
        client: ClientCredentials(id: "app", secret: nil, authentication: .publicClient),
        timeout: .seconds(7)))
    let body = #"{"access_token":"a","token_type":"\#(secret)"}"#
    return [
      "user information": await failure(.userInfoInvalid) {
        try await UserInfoRequest(client).read(
          response, of: idToken, removing: SentSecrets([secret]))
      },
      "introspection": await failure(.invalidResponse) {
        try await introspection.read(response, signatures: nil)
      },
      "signed introspection": await failure(.invalidResponse) {
        try await introspection.read(response, signatures: signatures)
      },
      "registration": failure(.invalidResponse) { try registration.members(of: response) },
      "token": failure(.invalidResponse) { try token.read(response) },
      "type of a token": failure(.invalidResponse) { try token.read(Answer.http(body)) },
    ]
  }

  /// The SDK must remove the secret before it shortens a text or changes the case of letters.
  @Test(arguments: ["c4n4ry-token", "C4N4RY-Token", String(repeating: "C4N4RY", count: 100)])
  func `a Content-Type or a token type that repeats a secret is not shown`(secret: String)
    async throws
  {
    for (name, error) in try await Self.errors(ofResponsesWith: secret) {
      let text = error.map { everyText(of: $0) } ?? ""
      #expect(text.contains("[removed]"), "\(name): \(text)")
      #expect(!text.lowercased().contains("c4n4ry"), "\(name): \(text)")
    }
  }

  /// An error quotes some of a server's names, because a developer needs them.
  ///
  /// The names are cleaned and shortened.
  @Test func `quoted texts of a server are short and have no control characters`() {
    let nasty = #"\u001b[31m\u202e\r\n\u2028\u0000"# + String(repeating: "x", count: 9_999)
    let errors = [
      failure {
        try ProviderMetadata(
          document: Data(#"{"issuer":"\#(nasty)"}"#.utf8), issuer: "https://s.example")
      },
      failure {
        try ProviderMetadata(
          document: Data(
            ProviderMetadataTests.document(["token_endpoint": "\"\(nasty)\""]).utf8),
          issuer: ProviderMetadataTests.issuer)
      },
      failure { try Answer.read(#"{"access_token":"a","token_type":"\#(nasty)"}"#) },
      failure { try Answer.read(#"{"access_token":"a","token_type":"b"}"#, type: "text/\u{1B}x") },
    ]
    for error in errors {
      let text = error?.description ?? ""
      #expect(!text.unicodeScalars.contains(where: isHarmful), "\(text.debugDescription)")
      #expect(text.count < 1_000)
    }
  }

  @Test func `the error of a damaged metadata document does not contain the document`() {
    for body in ["C4N4RY", #"{"issuer":"C4N4RY"#, #"{"issuer":{"C4N4RY":1}}"#] {
      Self.expectSilence(
        failure { try ProviderMetadata(document: Data(body.utf8), issuer: "https://s.example") })
    }
  }
}
