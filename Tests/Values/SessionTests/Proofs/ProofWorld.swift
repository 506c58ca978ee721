import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client with bound tokens, and servers that demand proofs and nonces as a test says.
final class ProofWorld: Sendable {
  /// How the servers treat proofs.
  struct Manners: Sendable {
    /// The nonces that the authorization server and the API demand; `nil` for none.
    var tokenNonce: String?
    var apiNonce: String?
    /// The nonces in successful responses; `nil` for none.
    var nextTokenNonce: String?
    var nextAPINonce: String?
    var tokenType = "DPoP"
    var issuesRefreshTokens = true
    /// Whether pushed requests must have a proof, or must have none; `nil` for either.
    ///
    /// The response that refuses such a request contains no nonce.
    var wantsPushedProofs: Bool?
    /// Whether the servers have a new nonce for each request, and so never accept one.
    var neverAgrees = false
    /// How many more times the servers change their nonce before they accept one.
    var nonceChanges = 0
    /// The servers' time minus the client's time, in seconds; `nil` if the servers do
    /// not check the times of proofs.
    var clockDifference: Double?
  }

  /// A request with its proof, as the servers saw it.
  struct Seen: Sendable {
    let request: WebRequest
    let form: [String: String]
    let proof: SentProof?
    var path: String { request.url.path() }
  }

  let fixture: OAuthFixture
  let store = MemoryTokenStore()
  private let state = Locked((manners: Manners(), seen: [Seen](), accessTokens: 0, refused: 0))

  var module: AuthorizationModule { fixture.oauth.module }
  var clock: ManualClock { fixture.clock }
  var seen: [Seen] { state.withLock(\.seen) }

  init(
    binding: TokenBinding = .dpop(), pushes: Bool = false, secret: String? = "s",
    clientKey: ClientKey? = nil
  ) throws {
    fixture = OAuthFixture(browser: { fixture, page in
      // The parameters of a pushed request are not in the browser's URL.
      let state = page.parameters["state"] ?? fixture.http.forms.compactMap { $0["state"] }.last
      fixture.oauth.handleRedirect("com.example.app:/cb?code=abc&state=\(state ?? "")")
    })
    var configuration = try ClientConfiguration(
      clientID: "client", clientSecret: clientKey == nil ? secret : nil, clientKey: clientKey,
      redirectURI: "com.example.app:/cb", scope: "demo",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        revocation: "https://id.example/revoke", pushedAuthorization: "https://id.example/par"))
    configuration.tokenBinding = binding
    configuration.pushesAuthorizationRequests = pushes
    fixture.oauth.register(configuration)
    fixture.oauth.environment.tokenStore = store
    fixture.oauth.refreshesAutomatically = false
    fixture.http.answer { [weak self] in try self?.answer($0) ?? WebResponse(status: 500) }
  }

  func change(_ body: (inout Manners) -> Void) { state.withLock { body(&$0.manners) } }

  /// Refuses the next `count` API requests as if their token were revoked.
  func refuseTokens(_ count: Int) { state.withLock { $0.refused = count } }

  /// Returns the requests to a path that the fixture has received.
  func requests(_ path: String) -> [Seen] { seen.filter { $0.path == path } }

  private func answer(_ request: WebRequest) throws -> WebResponse {
    let seen = Seen(
      request: request, form: ScriptedTransport.form(of: request) ?? [:],
      proof: try SentProof(request))
    return state.withLock { state in
      state.seen.append(seen)
      if state.manners.neverAgrees {
        state.manners.tokenNonce = "t\(state.seen.count)"
        state.manners.apiNonce = "a\(state.seen.count)"
      }
      if state.manners.nonceChanges > 0, seen.proof?.nonce != nil {
        state.manners.nonceChanges -= 1
        if state.manners.tokenNonce != nil { state.manners.tokenNonce = "t\(state.seen.count)" }
        if state.manners.apiNonce != nil { state.manners.apiNonce = "a\(state.seen.count)" }
      }
      return seen.request.url.host() == "id.example"
        ? tokenAnswer(seen, &state.manners, &state.accessTokens)
        : apiAnswer(seen, &state.manners, &state.refused)
    }
  }

  private func tokenAnswer(
    _ seen: Seen, _ manners: inout Manners, _ count: inout Int
  ) -> WebResponse {
    if seen.path == "/par", let wanted = manners.wantsPushedProofs {
      return pushAnswer(isAccepted: (seen.proof != nil) == wanted, manners)
    }
    if let error = error(seen, nonce: manners.tokenNonce, manners) {
      return WebResponse(
        status: 400, headers: fields(manners.tokenNonce, manners),
        body: Data(#"{"error":"\#(error)"}"#.utf8))
    }
    if let next = manners.nextTokenNonce { manners.tokenNonce = next }
    let fields = fields(manners.nextTokenNonce, manners)
    if seen.path == "/par" {
      return WebResponse(status: 201, headers: fields, body: Self.pushed)
    }
    guard seen.path == "/token" else { return WebResponse(status: 200, headers: fields) }
    count += 1
    let body = #"""
      {"access_token":"T\#(count)","token_type":"\#(manners.tokenType)","expires_in":3600,
       \#(manners.issuesRefreshTokens ? #""refresh_token":"R\#(count)","# : "")"scope":"demo"}
      """#
    return WebResponse(status: 200, headers: fields, body: Data(body.utf8))
  }

  private static let pushed = Data(#"{"request_uri":"urn:x","expires_in":60}"#.utf8)

  private func pushAnswer(isAccepted: Bool, _ manners: Manners) -> WebResponse {
    WebResponse(
      status: isAccepted ? 201 : 403, headers: fields(nil, manners),
      body: isAccepted ? Self.pushed : Data(#"{"error":"invalid_dpop_proof"}"#.utf8))
  }

  private func apiAnswer(
    _ seen: Seen, _ manners: inout Manners, _ refused: inout Int
  ) -> WebResponse {
    var error = error(seen, nonce: manners.apiNonce, manners)
    if error == nil, refused > 0 {
      refused -= 1
      error = "invalid_token"
    }
    var headers = fields(error == nil ? manners.nextAPINonce : manners.apiNonce, manners)
    if let next = manners.nextAPINonce, error == nil { manners.apiNonce = next }
    if let error { headers["WWW-Authenticate"] = #"DPoP error="\#(error)", algs="ES256""# }
    return WebResponse(
      status: error == nil ? 200 : 401, headers: headers,
      body: Data(error == nil ? "hello".utf8 : "".utf8))
  }

  /// Returns the error code of a server that refuses a proof; `nil` if the server accepts it.
  private func error(_ seen: Seen, nonce: String?, _ manners: Manners) -> String? {
    guard let proof = seen.proof else { return seen.path == "/revoke" ? nil : "invalid_dpop_proof" }
    if let difference = manners.clockDifference {
      let now = Int64(clock.now.timeIntervalSince1970 + difference)
      guard abs((proof.time ?? 0) - now) <= 10 else { return "invalid_dpop_proof" }
    }
    return nonce == nil || proof.nonce == nonce ? nil : "use_dpop_nonce"
  }

  private func fields(_ nonce: String?, _ manners: Manners) -> HeaderFields {
    var fields: HeaderFields = ["Content-Type": "application/json"]
    fields["DPoP-Nonce"] = nonce
    if let difference = manners.clockDifference {
      fields["Date"] = clock.now.addingTimeInterval(difference).httpText
    }
    return fields
  }

  @discardableResult
  func signedIn() async throws -> Self {
    try await module.signIn()
    return self
  }

  func send(_ url: String = "https://api.example/x?y=1") async throws -> WebResponse {
    try await module.send(try .get(url))
  }

  /// The key in the store.
  var storedKey: ProofKey? {
    get async { await store.load("default")?.proofKey }
  }
}
