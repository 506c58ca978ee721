import Foundation
import OAuthSandbox
import SQCrypto
import SequencingOAuth
import Testing

@testable import LoopbackSupport

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

  mutating func object(_ name: String, _ value: SandboxJSON?) {
    Self.change(&form["request"]) { $1[name] = value }
  }

  mutating func assertion(_ name: String, _ value: SandboxJSON?) {
    Self.change(&form["client_assertion"]) { $1[name] = value }
  }
}

/// The faults in a client's requests that the audit in the FAPI 2.0 tests must find.
enum FAPI2Faults {
  typealias Fault = (what: String, at: SandboxEndpoint, change: @Sendable (inout Replay) -> Void)

  static let all: [Fault] = proofs + clients + signIns

  /// Faults of signed requests.
  static let signed: [Fault] = [
    ("a parameter that is not signed", .pushedAuthorization, { $0.form["state"] = "x" }),
    ("form", .pushedAuthorization, { $0.object("request", "x") }),
    ("scope", .pushedAuthorization, { $0.object("scope", "demo openid") }),
    ("response_mode", .pushedAuthorization, { $0.object("response_mode", nil) }),
    ("client_id", .pushedAuthorization, { $0.object("client_id", nil) }),
    ("dpop_jkt", .pushedAuthorization, { $0.object("dpop_jkt", "x") }),
    ("code_challenge", .token, { $0.form["code_verifier"] = String(repeating: "v", count: 43) }),
    ("iss of the request", .pushedAuthorization, { $0.object("iss", "another") }),
    (
      "sub of the request", .pushedAuthorization,
      { $0.object("sub", .string(BoundFixture.clientID)) }
    ),
    ("aud of the request", .pushedAuthorization, { $0.object("aud", ["x"]) }),
    ("exp of the request", .pushedAuthorization, { $0.object("exp", 4_000_000_000) }),
    ("nbf of the request", .pushedAuthorization, { $0.object("nbf", nil) }),
    (
      "kid of the request", .pushedAuthorization,
      { Replay.change(&$0.form["request"]) { header, _ in header["kid"] = nil } }
    ),
    (
      "typ of the request", .pushedAuthorization,
      { Replay.change(&$0.form["request"]) { header, _ in header["typ"] = "JWT" } }
    ),
    (
      "alg of the request", .pushedAuthorization,
      { Replay.change(&$0.form["request"]) { header, _ in header["alg"] = "RS256" } }
    ),
  ]

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
    ("parameters beside request_uri", .authorization, { $0.url += "&scope=demo" }),
    ("grant_type", .token, { $0.form["grant_type"] = "password" }),
    ("code_verifier", .token, { $0.form["code_verifier"] = "short" }),
    (
      "code_challenge", .token,
      { $0.form["code_verifier"] = String(repeating: "v", count: 43) }
    ),
    ("redirect", .token, { $0.form["redirect_uri"] = nil }),
    ("an address that the metadata does not name", .me, { $0.url += "/more" }),
  ]
}
