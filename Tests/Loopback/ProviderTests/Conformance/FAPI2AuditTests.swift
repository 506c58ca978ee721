import Foundation
import OAuthSandbox
import SQBasics
import SQCrypto
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth

/// That the check that runs on every flow of the FAPI 2.0 plan finds each fault.
@Suite(.timeLimit(.minutes(1))) struct FAPI2AuditTests {
  /// A request to send again, with one fault.
  struct Replay {
    let method: String
    var url: String
    var headers: [String: String]
    var form: [String: String]

    init(_ request: SandboxRequest, _ sandbox: SandboxServer) throws {
      method = request.method
      let endpoint = try #require(request.endpoint)
      let query = SandboxPeer.form(request.query.map { ($0.name, $0.value) })
      url = sandbox.url(endpoint).absoluteString + (query.isEmpty ? "" : "?\(query)")
      let kept = ["dpop", "authorization", "content-type"]
      headers = Dictionary(
        request.headers.filter { kept.contains($0.name) }.map { ($0.name, $0.value) }
      ) { $1 }
      form = Dictionary(request.form.map { ($0.name, $0.value) }) { $1 }
    }

    func send() async throws {
      _ = try await LoopbackClient.send(
        method, try #require(LoopbackURL(url)), headers: headers.map { ($0.key, $0.value) },
        body: Data(SandboxPeer.form(form.map { ($0.key, $0.value) }).utf8))
    }

    /// Changes the header and the claims of a JWT, whose signature is then wrong.
    static func change(
      _ text: inout String?,
      _ change: (_ header: inout SandboxJSON, _ claims: inout SandboxJSON) -> Void
    ) {
      guard let jwt = text.flatMap({ try? ReadJWT($0) }) else { return }
      var (header, claims) = (jwt.header, jwt.claims)
      change(&header, &claims)
      text =
        [header, claims].map { Base64URL.encode(Data($0.text.utf8)) }.joined(separator: ".")
        + ".AA"
    }

    mutating func proof(_ name: String, _ value: SandboxJSON?) {
      Self.change(&headers["dpop"]) { $1[name] = value }
    }

    mutating func assertion(_ name: String, _ value: SandboxJSON?) {
      Self.change(&form["client_assertion"]) { $1[name] = value }
    }
  }

  typealias Fault = (what: String, at: SandboxEndpoint, change: @Sendable (inout Replay) -> Void)

  static let faults: [Fault] = proofs + clients + signIns

  private static let proofs: [Fault] = [
    ("no proof", .token, { $0.headers["dpop"] = nil }),
    ("no proof", .me, { $0.headers["dpop"] = nil }),
    (
      "a proof", .authorization,
      { $0.headers["dpop"] = "eyJqd2siOnt9LCJhbGciOiIifQ.eyJqdGkiOiIifQ.A" }
    ),
    ("typ", .token, { Replay.change(&$0.headers["dpop"]) { header, _ in header["typ"] = "JWT" } }),
    (
      "alg", .token, { Replay.change(&$0.headers["dpop"]) { header, _ in header["alg"] = "RS256" } }
    ),
    (
      "jwk", .token,
      { Replay.change(&$0.headers["dpop"]) { header, _ in header["jwk"]?["d"] = "secret" } }
    ),
    ("jti", .token, { $0.proof("jti", "short") }),
    ("htm", .token, { $0.proof("htm", "post") }),
    ("htu", .token, { $0.proof("htu", "http://127.0.0.1/token") }),
    (
      "htu", .me,
      {
        $0.url += "?x=1"; $0.proof("htu", .string($0.url))
      }
    ),
    ("iat", .token, { $0.proof("iat", 1_700_000_000) }),
    ("iat", .token, { $0.proof("iat", "now") }),
    ("other claims", .token, { $0.proof("exp", 1) }),
    ("ath at the authorization server", .token, { $0.proof("ath", "x") }),
    ("ath", .me, { $0.proof("ath", nil) }),
    ("ath", .me, { $0.headers["authorization"] = "DPoP another" }),
    ("Authorization", .me, { $0.headers["authorization"] = "Bearer another" }),
    ("a token in the URL", .me, { $0.url += "?access_token=x" }),
  ]

  private static let clients: [Fault] = [
    ("two authentications", .token, { $0.headers["authorization"] = "Basic eDp5" }),
    ("a secret", .token, { $0.form["client_secret"] = "x" }),
    ("client_id", .token, { $0.form["client_id"] = "another" }),
    ("client_assertion_type", .token, { $0.form["client_assertion_type"] = "jwt" }),
    (
      "kid", .token,
      { Replay.change(&$0.form["client_assertion"]) { header, _ in header["kid"] = nil } }
    ),
    (
      "alg", .token,
      { Replay.change(&$0.form["client_assertion"]) { header, _ in header["alg"] = "RS256" } }
    ),
    ("iss", .token, { $0.assertion("sub", "another") }),
    ("aud", .token, { $0.assertion("aud", [.string("x")]) }),
    ("exp", .token, { $0.assertion("exp", 1_700_000_000) }),
    ("exp", .token, { $0.assertion("exp", nil) }),
    ("iat", .token, { $0.assertion("iat", nil) }),
    ("nbf", .token, { $0.assertion("nbf", 4_000_000_000) }),
  ]

  private static let signIns: [Fault] = [
    ("form", .pushedAuthorization, { $0.form["request_uri"] = "urn:x" }),
    ("response_type", .pushedAuthorization, { $0.form["response_type"] = "code id_token" }),
    ("scope", .pushedAuthorization, { $0.form["scope"] = "demo openid" }),
    ("code_challenge_method", .pushedAuthorization, { $0.form["code_challenge_method"] = "plain" }),
    ("code_challenge", .pushedAuthorization, { $0.form["code_challenge"] = "short" }),
    ("redirect_uri", .pushedAuthorization, { $0.form["redirect_uri"] = nil }),
    ("dpop_jkt", .pushedAuthorization, { $0.form["dpop_jkt"] = "another" }),
    ("nonce", .pushedAuthorization, { $0.form["nonce"] = nil }),
    ("a long state", .pushedAuthorization, { $0.form["state"]? += "x" }),
    ("state", .pushedAuthorization, { $0.form["state"] = "a b" }),
    ("front", .authorization, { $0.url += "&scope=demo" }),
    ("grant_type", .token, { $0.form["grant_type"] = "password" }),
    ("code_verifier", .token, { $0.form["code_verifier"] = "short" }),
    (
      "code_challenge", .token,
      { $0.form["code_verifier"] = String(repeating: "v", count: 43) }
    ),
    ("redirect", .token, { $0.form["redirect_uri"] = nil }),
    ("an address that the metadata does not name", .me, { $0.url += "/more" }),
  ]

  /// Signs in, and sends each kind of request once more, with a fault in one of them.
  private func findings(_ fault: Fault?) async throws -> [String] {
    let party = try await FAPI2Party()
    try await party.goesOn()
    let endpoints: [SandboxEndpoint] = [.pushedAuthorization, .authorization, .token, .me]
    let replays = try endpoints.map { endpoint in
      var replay = try Replay(
        try #require(party.sandbox.requests(to: endpoint).last), party.sandbox)
      if let fault, fault.at == endpoint { fault.change(&replay) }
      return replay
    }
    party.sandbox.forgetRequests()
    for replay in replays { try await replay.send() }
    return try party.audit.findings
  }

  @Test func `the requests of a right client have no finding`() async throws {
    #expect(try await findings(nil) == [])
  }

  @Test(arguments: faults.indices)
  func `every fault is found`(index: Int) async throws {
    let fault = Self.faults[index]
    let found = try await findings(fault)
    #expect(found.contains { $0.hasPrefix("\(fault.what): ") }, "\(fault.what): \(found)")
  }

  @Test func `what must be new in each request is not sent twice`() async throws {
    let party = try await FAPI2Party()
    try await party.oauth.signIn()
    let replay = try Replay(
      try #require(party.sandbox.requests(to: .token).last), party.sandbox)
    try await replay.send()
    let found = try party.audit.findings
    #expect(found == ["jti: POST /token", "an assertion was sent twice: POST /token"])
    let pushed = try #require(party.sandbox.requests(to: .pushedAuthorization).last)
    var changed = try Replay(pushed, party.sandbox)
    changed.form["redirect_uri"] = "http://127.0.0.1/"
    try await changed.send()
    #expect(try party.audit.findings.contains("a state was sent twice: POST /par"))
    var other = replay
    other.form["code"] = "another"
    try await other.send()
    #expect(try party.audit.findings.contains("verifier: POST /token"))
  }
}
