import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// How the client identifier and the secret are sent, in the requests that a server gets.
///
/// Many servers do not decode what clients encode for Basic by RFC 6749, section 2.3.1.
@Suite(.timeLimit(.minutes(1))) struct ClientSecretTests {
  /// Returns a client of a discovered server that lists these methods, or no methods.
  static func fixture(
    id: String = "client", secret: String, methods: [String]? = nil,
    authentication: ClientAuthentication? = nil,
    answer: @escaping ScriptedTransport.Answer = ScriptedTransport.token()
  ) throws -> OAuthFixture {
    let list = methods.map { $0.map { "\"\($0)\"" }.joined(separator: ",") }
    let document = DiscoverySignInTests.document(
      list.map { #","token_endpoint_auth_methods_supported":[\#($0)]"# } ?? "")
    let fixture = OAuthFixture(
      answer: DiscoverySignInTests.server(document, token: answer),
      browser: DelegateOutcomeTests.answers("code=abc"))
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: id, clientSecret: secret, redirectURI: "com.example.app:/cb",
        provider: .issuer(DiscoverySignInTests.issuer), clientAuthentication: authentication))
    return fixture
  }

  /// Returns the content of the last request's Basic field before any form decoding.
  static func basic(_ fixture: OAuthFixture) throws -> String? {
    guard let field = fixture.http.requests.last?.headers["Authorization"] else { return nil }
    #expect(field.hasPrefix("Basic "))
    let data = try #require(Data(base64Encoded: String(field.dropFirst("Basic ".count))))
    return String(data: data, encoding: .utf8)
  }

  static let both = ["client_secret_basic", "client_secret_post"]

  /// Secrets that Basic must encode, with their encoded forms.
  static let changed = [
    ("a/b", "a%2Fb"), ("a=", "a%3D"), ("a+b", "a%2Bb"), ("a b", "a%20b"), ("a:b", "a%3Ab"),
    ("50%", "50%25"), ("%41", "%2541"), ("\u{FC}", "%C3%BC"), ("a&b", "a%26b"), ("\"", "%22"),
  ]

  @Test(arguments: ["s3cr3t", "a~b", "a-._b", "~", "a*b"])
  func `a secret that needs no encoding is sent by Basic`(
    secret: String
  ) async throws {
    for methods in [Self.both, Self.both.reversed(), ["client_secret_basic"], nil] {
      let fixture = try Self.fixture(secret: secret, methods: methods)
      _ = try await fixture.oauth.signIn()
      #expect(try Self.basic(fixture) == "client:\(secret)")
      #expect(fixture.http.forms.last?["client_secret"] == nil)
    }
  }

  @Test(arguments: changed)
  func `a secret that needs encoding is sent in the body if the server accepts that`(
    secret: String, encoded: String
  ) async throws {
    let fixture = try Self.fixture(secret: secret, methods: Self.both)
    _ = try await fixture.oauth.signIn()
    #expect(try Self.basic(fixture) == nil)
    #expect(fixture.http.forms.last?["client_secret"] == secret)
    #expect(fixture.http.forms.last?["client_id"] == "client")
    #expect(fixture.http.forms.count == 1)
  }

  @Test(arguments: changed)
  func `a secret is encoded for Basic if the server or the app does not allow the body`(
    secret: String, encoded: String
  ) async throws {
    for (methods, authentication) in [
      (["client_secret_basic"], nil), (nil, nil), (Self.both, ClientAuthentication.basic),
    ] {
      let fixture = try Self.fixture(
        secret: secret, methods: methods, authentication: authentication)
      _ = try await fixture.oauth.signIn()
      #expect(try Self.basic(fixture) == "client:\(encoded)")
      #expect(fixture.http.forms.last?["client_secret"] == nil)
      #expect(fixture.http.forms.count == 1)
    }
  }

  @Test func `a client_id that needs encoding is sent in the body, or encoded for Basic`()
    async throws
  {
    let id = "https://app.example/"
    let fixture = try Self.fixture(id: id, secret: "s", methods: Self.both)
    _ = try await fixture.oauth.signIn()
    #expect(try Self.basic(fixture) == nil && fixture.http.forms.last?["client_id"] == id)
    let other = try Self.fixture(id: id, secret: "s")
    _ = try await other.oauth.signIn()
    #expect(try Self.basic(other) == "https%3A%2F%2Fapp.example%2F:s")
  }

  @Test(arguments: changed)
  func `unescaped Basic sends the identifier and the secret unencoded if the app asks for it`(
    secret: String, encoded: String
  ) async throws {
    let fixture = try Self.fixture(
      id: "cl/ent", secret: secret, methods: Self.both, authentication: .basicUnescaped)
    _ = try await fixture.oauth.signIn()
    #expect(try Self.basic(fixture) == "cl/ent:\(secret)")
    let names = Set((fixture.http.forms.last ?? [:]).keys)
    #expect(names.isDisjoint(with: ["client_id", "client_secret"]))
    #expect(fixture.http.forms.count == 1)
  }

  @Test func `a revocation uses the authentication methods that are listed for its endpoint`()
    async throws
  {
    for (methods, isBasic) in [("", false), (#""client_secret_basic""#, true)] {
      let both = #"["client_secret_basic","client_secret_post"]"#
      let members = [
        #""token_endpoint_auth_methods_supported":\#(both)"#,
        methods.isEmpty ? nil : #""revocation_endpoint_auth_methods_supported":[\#(methods)]"#,
        #""revocation_endpoint":"https://id.example/revoke""#,
      ]
      let document = DiscoverySignInTests.document(
        members.compactMap { $0.map { ",\($0)" } }.joined())
      let fixture = try Self.fixture(secret: "a/b")
      fixture.http.answer(DiscoverySignInTests.server(document))
      _ = try await fixture.oauth.signIn()
      fixture.http.answer(
        DiscoverySignInTests.server(document, token: ScriptedTransport.json("", status: 401)))
      let error = await failure { try await fixture.oauth.module.revoke() }
      #expect(error?.message.contains(".basicUnescaped") == isBasic)
      fixture.http.answer(DiscoverySignInTests.server(document))
      try await fixture.oauth.module.revoke()
      #expect(fixture.http.requests.last?.url.path() == "/revoke")
      #expect(try Self.basic(fixture) == (isBasic ? "client:a%2Fb" : nil))
      #expect(fixture.http.forms.last?["client_secret"] == (isBasic ? nil : "a/b"))
    }
  }

  // MARK: - A rejected client

  static let refusals: [ScriptedTransport.Answer] = [
    ScriptedTransport.json(#"{"error":"invalid_client"}"#, status: 401),
    ScriptedTransport.json(#"{"error":"invalid_client"}"#, status: 400),
    ScriptedTransport.json(#"{"error":"invalid_client","error_description":"no"}"#),
    ScriptedTransport.json("", status: 401), ScriptedTransport.json("", status: 403),
  ]

  @Test(arguments: refusals.indices)
  func `if a secret encoded for Basic is rejected, the error names post and basicUnescaped`(
    index: Int
  ) async throws {
    let refuses = Self.refusals[index]
    let encoded = try Self.fixture(secret: "C4N4RY/", answer: refuses)
    let error = await failure { try await encoded.oauth.signIn() }
    #expect(error?.message.contains(".post") == true)
    #expect(error?.message.contains(".basicUnescaped") == true)
    #expect(encoded.http.forms.count == 1, "no second method is tried")
    #expect(error.map { everyText(of: $0).contains("C4N4RY") } == false)

    for (secret, method) in [
      ("s3cr3t", nil), ("a/b", ClientAuthentication.post), ("a/b", .basicUnescaped),
    ] {
      let other = try Self.fixture(secret: secret, authentication: method, answer: refuses)
      let error = await failure { try await other.oauth.signIn() }
      #expect(error?.message.contains(".post") == false)
    }
  }

  /// Servers that look for the secret in another place respond with many different codes.
  @Test(
    arguments: [
      "invalid_client", "unauthorized_client", "invalid_request", "bad_client_credentials", nil,
    ], [400, 401, 403])
  func `the error of a rejected secret names the other method and how to choose it`(
    code: String?, status: Int
  ) async throws {
    let refuses = ScriptedTransport.json(
      code.map { #"{"error":"\#($0)"}"# } ?? "", status: status)
    for (secret, method, other) in [
      ("s3cr3t", nil, "client_secret_post"), ("a/b", nil, "client_secret_post"),
      ("a/b", .basicUnescaped, "client_secret_post"), ("a/b", .post, "client_secret_basic"),
    ] as [(String, ClientAuthentication?, String)] {
      let fixture = try Self.fixture(secret: secret, authentication: method, answer: refuses)
      let message = await failure { try await fixture.oauth.signIn() }?.message ?? ""
      #expect(message.contains(other) && message.contains("clientAuthentication"), "\(message)")
      #expect(fixture.http.forms.count == 1, "no second method is tried")
    }
  }

  /// Only a signed message depends on the time.
  @Test(arguments: [ClientAuthentication.basic, .basicUnescaped, .post])
  func `with a wrong clock, a rejected secret is not sent again`(
    method: ClientAuthentication
  ) async throws {
    // By this date, the client's clock is an hour behind.
    let fixture = try Self.fixture(secret: "s3cr3t", authentication: method) { _ in
      WebResponse(
        status: 401,
        headers: ["Content-Type": "application/json", "Date": "Sun, 15 Jun 2025 16:07:40 GMT"],
        body: Data(#"{"error":"invalid_client"}"#.utf8))
    }
    await failure(.invalidClient) { try await fixture.oauth.signIn() }
    #expect(fixture.http.forms.count == 1, "the code was sent twice")
  }

  @Test(arguments: ["server_error", "invalid_client"])
  func `an error with status 503 does not suggest another authentication method`(code: String)
    async throws
  {
    let fixture = try Self.fixture(
      secret: "a/b", answer: ScriptedTransport.json(#"{"error":"\#(code)"}"#, status: 503))
    let error = await failure { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("client_secret_post") == false)
  }

  @Test func `an invalid_grant error does not mention Basic`() async throws {
    let fixture = try Self.fixture(
      secret: "a/b", answer: ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 401))
    let error = await failure(.invalidGrant) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("Basic") == false)
  }
}
