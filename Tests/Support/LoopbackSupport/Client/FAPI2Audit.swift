import Foundation
import SQBasics
import Testing

@testable import OAuthSandbox

/// The checks that the OpenID Foundation's test server makes on all requests of a FAPI 2.0 client.
///
/// - SeeAlso: FAPI 2.0 Security Profile, section 5.3.3; RFC 7523, section 3; RFC 9126; RFC 7636
struct FAPI2Audit {
  let sandbox: SandboxServer
  let clientID: String
  let keyID: String?
  let scope: String
  /// Whether the authorization requests are signed (RFC 9101).
  let isSigned: Bool
  private var proofs: ProofAudit

  /// Examines all requests so far.
  init(
    _ sandbox: SandboxServer, clientID: String, keyID: String?, scope: String, isSigned: Bool
  ) throws {
    (self.sandbox, self.clientID, self.keyID) = (sandbox, clientID, keyID)
    (self.scope, self.isSigned) = (scope, isSigned)
    proofs = try ProofAudit(sandbox)
    try check()
  }

  /// What is wrong, such as `scope: POST /par`.
  var findings: [String] { proofs.findings }

  /// Expects that nothing is wrong.
  func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
    proofs.expectNothing(sourceLocation: sourceLocation)
  }

  private mutating func expect(_ condition: Bool, _ what: String, _ request: SandboxRequest) {
    proofs.expect(condition, what, request)
  }

  private mutating func check() throws {
    for request in sandbox.requests {
      expect(request.endpoint != nil, "an address that the metadata does not name", request)
    }
    try checkAssertions()
    for request in sandbox.requests(to: .pushedAuthorization) { try checkPushed(request) }
    for request in sandbox.requests(to: .authorization) { checkFront(request) }
    for request in sandbox.requests(to: .token) { checkToken(request) }
    checkRetries()
  }

  // MARK: The client

  private mutating func checkAssertions() throws {
    var names: Set<String> = []
    let endpoints: Set<SandboxEndpoint?> = [.pushedAuthorization, .token]
    for request in sandbox.requests where endpoints.contains(request.endpoint) {
      expect(request.method == "POST" && request.query.isEmpty, "not a form", request)
      expect(!request.form.hasDuplicates, "a parameter came twice", request)
      expect(request.header("authorization") == nil, "two authentications", request)
      expect(request.form("client_secret") == nil, "a secret", request)
      expect(request.form("client_id") ?? clientID == clientID, "client_id", request)
      let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
      expect(request.form("client_assertion_type") == type, "client_assertion_type", request)
      let assertion = try ReadJWT(try #require(request.form("client_assertion")))
      checkAssertion(assertion, request)
      let name = try #require(assertion.claims["jti"]?.string)
      expect(names.insert(name).inserted, "an assertion was sent twice", request)
    }
  }

  private mutating func checkAssertion(_ assertion: ReadJWT, _ request: SandboxRequest) {
    let claims = assertion.claims
    expect(keyID != nil && assertion.header["kid"]?.string == keyID, "kid", request)
    let algorithm = assertion.header["alg"]?.string ?? ""
    expect(["ES256", "PS256", "EdDSA"].contains(algorithm), "alg", request)
    expect(claims["iss"]?.string == clientID && claims["sub"]?.string == clientID, "iss", request)
    // The audience must be one string: the issuer, and not the address of an endpoint.
    expect(claims["aud"]?.string == sandbox.issuer.absoluteString, "aud", request)
    let now = Int(request.date.timeIntervalSince1970)
    expect(claims["exp"]?.integer.map { $0 > now && $0 <= now + 3600 } == true, "exp", request)
    expect(claims["iat"]?.integer.map { abs($0 - now) <= 300 } == true, "iat", request)
    expect(claims["nbf"].map { ($0.integer ?? .max) <= now + 300 } ?? true, "nbf", request)
  }

  // MARK: The sign-in

  private mutating func checkPushed(_ request: SandboxRequest) throws {
    if isSigned { try checkRequestObject(request) }
    let parameters = parameters(of: request)
    expect((request.form("request") != nil) == isSigned, "form", request)
    expect(parameters["request_uri"] == nil && parameters["request"] == nil, "form", request)
    expect(parameters["response_type"] == "code", "response_type", request)
    expect(request.form("client_id") == clientID, "client_id", request)
    expect(parameters["client_id"] == clientID, "client_id", request)
    expect(parameters["scope"] == scope, "scope", request)
    expect(parameters["code_challenge_method"] == "S256", "code_challenge_method", request)
    expect(parameters["code_challenge"]?.utf8.count == 43, "code_challenge", request)
    expect(parameters["redirect_uri"] != nil, "redirect_uri", request)
    expect(parameters["dpop_jkt"] == request.proof?.keyThumbprint, "dpop_jkt", request)
    expect(parameters["response_mode"] == (isSigned ? "jwt" : nil), "response_mode", request)
    let isOpenID = scope.split(separator: " ").contains("openid")
    expect((parameters["nonce"] != nil) == isOpenID, "nonce", request)
    expect(isOpenID || parameters["claims"] == nil, "claims", request)
    // Some servers reject values of more than 43 characters, or with characters that are not
    // unreserved (RFC 3986, section 2.3).
    for name in ["state", "nonce"] {
      let value = parameters[name] ?? ""
      expect(value.utf8.count <= 43, "a long \(name)", request)
      expect(value.utf8.allSatisfy { $0.isAlphanumeric || "-._~".utf8.contains($0) }, name, request)
    }
  }

  /// Returns the parameters of a pushed sign-in; in a signed request, they are claims.
  private func parameters(of request: SandboxRequest) -> [String: String] {
    guard isSigned, let claims = request.requestObjectClaims else {
      let form = request.form.filter { !$0.name.hasPrefix("client_assertion") }
      return Dictionary(form.map { ($0.name, $0.value) }) { $1 }
    }
    let names = Set(claims.names).subtracting(["iss", "aud", "exp", "iat", "nbf", "jti"])
    return names.reduce(into: [:]) { $0[$1] = claims[$1]?.string }
  }

  /// - SeeAlso: RFC 9101, section 4; FAPI 2.0 Message Signing, section 5.3.2
  private mutating func checkRequestObject(_ request: SandboxRequest) throws {
    let known: Set = ["request", "client_id", "client_assertion", "client_assertion_type"]
    expect(Set(request.form.map(\.name)) == known, "a parameter that is not signed", request)
    let object = try ReadJWT(try #require(request.form("request")))
    expect(object.header["typ"] == "oauth-authz-req+jwt", "typ of the request", request)
    expect(keyID != nil && object.header["kid"]?.string == keyID, "kid of the request", request)
    let algorithm = object.header["alg"]?.string ?? ""
    expect(["ES256", "PS256", "EdDSA"].contains(algorithm), "alg of the request", request)
    let claims = object.claims
    expect(claims["iss"]?.string == clientID, "iss of the request", request)
    // With this claim, an attacker could send the request object as the client's assertion.
    expect(claims["sub"]?.string != clientID, "sub of the request", request)
    let issuer = sandbox.issuer.absoluteString
    expect(claims["aud"]?.string == issuer, "aud of the request", request)
    let now = Int(request.date.timeIntervalSince1970)
    let (start, end) = (claims["nbf"]?.integer, claims["exp"]?.integer)
    expect(end.map { $0 > now && $0 <= now + 3600 } == true, "exp of the request", request)
    expect(start.map { $0 <= now + 300 && $0 > now - 3600 } == true, "nbf of the request", request)
  }

  private mutating func checkFront(_ request: SandboxRequest) {
    expect(
      request.query.map(\.name).sorted() == ["client_id", "request_uri"],
      "parameters beside request_uri", request)
    expect(request.query("client_id") == clientID, "client_id", request)
  }

  private mutating func checkToken(_ request: SandboxRequest) {
    guard request.form("grant_type") == "authorization_code" else {
      expect(request.form("grant_type") == "refresh_token", "grant_type", request)
      expect(request.form("refresh_token")?.isEmpty == false, "refresh_token", request)
      return
    }
    let verifier = request.form("code_verifier") ?? ""
    expect((43...128).contains(verifier.utf8.count), "code_verifier", request)
    let challenge = Crypto.digest(of: verifier)
    let pushed = sandbox.requests(to: .pushedAuthorization).last {
      parameters(of: $0)["code_challenge"] == challenge
    }
    expect(pushed != nil, "code_challenge", request)
    let redirectURI = request.form("redirect_uri")
    expect(
      redirectURI != nil && redirectURI == pushed.flatMap { parameters(of: $0)["redirect_uri"] },
      "redirect", request)
    expect(pushed?.proof?.keyThumbprint == request.proof?.keyThumbprint, "another key", request)
  }

  /// Checks that requests with the same state have the same parameters, and that token requests
  /// with the same verifier have the same code.
  private mutating func checkRetries() {
    var (states, verifiers): ([String: [String: String]], [String: String]) = ([:], [:])
    for request in sandbox.requests(to: .pushedAuthorization) {
      let values = parameters(of: request)
      let old = states.updateValue(values, forKey: values["state"] ?? "")
      expect(old ?? values == values, "a state was sent twice", request)
    }
    for request in sandbox.requests(to: .token) {
      guard let verifier = request.form("code_verifier"), let code = request.form("code") else {
        continue
      }
      expect(verifiers.updateValue(code, forKey: verifier) ?? code == code, "verifier", request)
    }
  }
}
