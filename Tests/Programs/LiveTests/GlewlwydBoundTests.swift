import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// Bound tokens, pushed requests and a client with a key, at an independent server.
@Suite(.requires(.glewlwyd), .timeLimit(.minutes(15))) struct GlewlwydBoundTests {
  private let key: ClientKey
  private let sent = SentRequests()

  init() throws {
    key = try ClientKey(generating: .es256)
  }

  @Test(.requires(.chromium))
  func `alice signs in at a server that demands pushed requests, keys and nonces`() async throws {
    try await Glewlwyd.running(knowing: key, settings: ["NONCE": "1"]) { server in
      let client = try server.keyedClient(key)
      let account = try await Browser.open { try await signIn(client, in: $0) }
      let token = try #require(account.currentToken)
      #expect(token.isBound && token.tokenType == "DPoP" && token.refreshToken != nil)
      let thumbprint = try #require(token.proofKey?.thumbprint)
      checkSignIn(thumbprint)
      // The server sends the pushed assertion back in the redirect, but the token must not keep it.
      #expect(Set(token.redirectParameters.keys) == ["session_state"])
      try await checkUserInfo(account, server)
      try await checkService(account, client, thumbprint)
      try await checkRefreshes(account, thumbprint)
      try await checkRevocation(account, client, token)
    }
  }

  /// With `PROOF_REQUIRED`, the server refuses a pushed request that has only the key's thumbprint.
  @Test func `a sign-in succeeds at a server that demands a DPoP proof in pushed requests`()
    async throws
  {
    try await Glewlwyd.running(knowing: key, settings: ["PROOF_REQUIRED": "1"]) { server in
      let account = account(try server.keyedClient(key)) { url in
        try await server.visit(url, as: .alice, granting: Glewlwyd.keyedScope, to: .keyed)
      }
      let token = try await account.signIn()
      #expect(token.isBound)
      for endpoint in ["par", "token"] {
        #expect(sent[endpoint].map { $0.response.status / 100 } == [2])
        #expect(sent[endpoint].map { $0.proof?.thumbprint } == [token.proofKey?.thumbprint])
      }
      #expect(try await account.userInfo().name == "Alice Liddell")
      #expect(sent["userinfo"].map(\.response.status) == [200])
    }
  }

  /// FAPI 2.0 demands the issuer as the audience of assertions, but glewlwyd refuses this audience.
  ///
  /// FAPI 2.0 also demands that the metadata promise `iss` in the redirect, but glewlwyd sends
  /// `iss` without this promise.
  @Test(arguments: [
    (
      AssertionAudience.issuer, SQOAuthError.Code.signInUnsupported,
      "authorization_response_iss_parameter_supported"
    ), (.requestedEndpoint, .invalidConfiguration, "assertionAudience"),
  ])
  func `a client of FAPI 2.0 cannot sign in, and its error says why`(
    audience: AssertionAudience, code: SQOAuthError.Code, reason: String
  ) async throws {
    try await Glewlwyd.running(knowing: key) { server in
      var client = try server.keyedClient(key, audience: audience)
      client.profile = .fapi2
      let account = account(client) { _ in Issue.record("the browser is opened") }
      let error = await failure(code) { try await account.signIn() }
      #expect(error?.message.contains(reason) == true)
      #expect(sent["par"].isEmpty)
    }
  }

  // MARK: The client

  private func account(
    _ client: ClientConfiguration, _ open: @escaping @Sendable (URL) async throws -> Void
  ) -> AuthorizationModule {
    var environment = ClientEnvironment()
    environment.transport = sent
    environment.userAgent = CustomUserAgent(open)
    return AuthorizationModule(configuration: client, environment: environment)
  }

  private func signIn(
    _ client: ClientConfiguration, in browser: Browser
  ) async throws -> AuthorizationModule {
    let account = account(client) { url in
      // Only `client_id` and `request_uri` may pass through the browser.
      let items = URLComponents(string: url.absoluteString)?.queryItems ?? []
      #expect(Set(items.map(\.name)) == ["client_id", "request_uri"])
      try await browser.go(to: url.absoluteString)
    }
    async let token = account.signIn()
    try await browser.logInToGlewlwyd(as: .alice)
    try await browser.consentOnGlewlwyd(to: ["profile", "read"])
    _ = try await token
    return account
  }

  // MARK: Its requests

  private func checkSignIn(_ thumbprint: String) {
    // The server demands a nonce in the proof of a pushed request, but sends no nonce.
    let pushed = sent["par"]
    #expect(pushed.map(\.response.status) == [403, 201])
    #expect(pushed.map { $0.proof?.thumbprint } == [thumbprint, nil])
    #expect(pushed.allSatisfy { $0.form["dpop_jkt"] == thumbprint })
    // The server sends the nonce at the token endpoint.
    let exchanges = sent["token"]
    #expect(exchanges.map(\.response.status) == [400, 200])
    #expect(exchanges.map { $0.proof?.thumbprint } == [thumbprint, thumbprint])
    let nonce = exchanges.first?.response.headers["DPoP-Nonce"]
    #expect(nonce != nil && exchanges.map { $0.proof?.nonce } == [nil, nonce])
    #expect(Set(exchanges.map { $0.form["code"] }).count == 1)
    let assertions = (pushed + exchanges).map { $0.form["client_assertion"] }
    #expect(assertions.allSatisfy { $0 != nil } && Set(assertions).count == 4)
  }

  private func checkUserInfo(_ account: AuthorizationModule, _ server: Glewlwyd) async throws {
    let info = try await account.userInfo()
    #expect(info.name == "Alice Liddell" && info.subject == account.currentToken?.idToken?.subject)
    let requests = sent["userinfo"]
    #expect(requests.map(\.response.status) == [401, 200])
    let nonce = requests.first?.response.headers["DPoP-Nonce"]
    #expect(nonce != nil && requests.map { $0.proof?.nonce } == [nil, nonce])
    #expect(requests.allSatisfy { $0.authorization.hasPrefix("DPoP ") })
    #expect(requests.allSatisfy { $0.proof?.tokenDigest != nil })

    // The server rejects the token without a proof.
    let url = try #require(URL(string: server.issuer + "/userinfo"))
    var stolen = WebRequest(method: "GET", url: url)
    for scheme in ["Bearer", "DPoP"] {
      stolen.headers["Authorization"] =
        "\(scheme) \(try #require(account.currentToken).accessToken)"
      #expect(try await CurlTransport.shared.send(stolen).status == 401)
    }
  }

  /// Checks the token as a service that receives the token with a proof.
  private func checkService(
    _ account: AuthorizationModule, _ client: ClientConfiguration, _ thumbprint: String
  ) async throws {
    let url = try #require(URL(string: "https://api.example.com/files"))
    try account.allowTokens(at: "https://api.example.com")
    func request() async throws -> ProtectedRequest {
      let fields = try await account.authorization(for: url, method: "GET").fields
      return ProtectedRequest(
        method: "GET", url: url, authorization: fields.values(for: "Authorization"),
        proofs: fields.values(for: "DPoP"))
    }
    let told = try #require(
      try await TokenIntrospector(client, audience: nil).claims(of: try await request()))
    #expect(told.proofKeyThumbprint == thumbprint && told.username == "alice")
    let validator = try AccessTokenValidator(
      provider: client.provider, audience: try #require(told.audience.first))
    let own = try await validator.validate(try await request())
    #expect(own.proofKeyThumbprint == thumbprint && own.identifier == told.identifier)
  }

  /// The server changes its nonce after a few requests, and sends the new nonce in the answer to
  /// the last request with the old nonce.
  private func checkRefreshes(_ account: AuthorizationModule, _ thumbprint: String) async throws {
    sent.forget()
    for _ in 1...6 { try await account.refresh() }
    let refreshes = sent["token"]
    #expect(refreshes.map(\.response.status) == Array(repeating: 200, count: 6))
    #expect(refreshes.allSatisfy { $0.proof?.thumbprint == thumbprint })
    #expect(Set(refreshes.map { $0.proof?.nonce }).count > 1)
    #expect(account.currentToken?.proofKey?.thumbprint == thumbprint)
    // By now, the client's nonce for UserInfo is out of date.
    #expect(try await account.userInfo().name == "Alice Liddell")
    #expect(sent["userinfo"].map(\.response.status) == [401, 200])
    #expect(Set(sent["userinfo"].map { $0.proof?.nonce }).count == 2)
  }

  private func checkRevocation(
    _ account: AuthorizationModule, _ client: ClientConfiguration, _ first: SQToken
  ) async throws {
    let last = try #require(account.currentToken)
    try await account.revoke()
    #expect(sent["revoke"].allSatisfy { $0.response.status == 200 } && !sent["revoke"].isEmpty)
    #expect(account.currentToken == nil)
    #expect(try await TokenIntrospector(client, audience: nil).claims(of: last.accessToken) == nil)
  }
}
