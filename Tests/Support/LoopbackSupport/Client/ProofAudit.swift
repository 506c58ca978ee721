import Foundation
import SQBasics
import Testing

@testable import OAuthSandbox

/// The checks that a strict server can make on the DPoP proofs in all requests to a sandbox.
///
/// The checks also cover what the sandbox itself tolerates, such as another spelling of the URL.
///
/// - SeeAlso: RFC 9449, sections 4.2, 5 and 7.1
struct ProofAudit {
  /// The endpoints that get no proof, because nothing there is bound to a key.
  static let withoutProof: Set<SandboxEndpoint> = [
    .metadata, .authorization, .login, .consent, .device, .keys, .endSession,
  ]

  let sandbox: SandboxServer
  /// What is wrong, such as `htu: POST /token`.
  private(set) var findings: [String] = []
  /// The thumbprint of the key in the last pushed request's proof; `nil` if that request had no
  /// proof.
  private var pushedKey: String?

  /// Examines all requests so far.
  init(_ sandbox: SandboxServer) throws {
    self.sandbox = sandbox
    try check()
  }

  /// Expects that nothing is wrong.
  func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(findings == [], sourceLocation: sourceLocation)
  }

  mutating func expect(_ condition: Bool, _ what: String, _ request: SandboxRequest) {
    if !condition { findings.append("\(what): \(request)") }
  }

  private mutating func check() throws {
    var names: Set<String> = []
    for request in sandbox.requests {
      let fields = request.headers.filter { $0.name == "dpop" }
      expect(fields.count <= 1, "several proofs", request)
      let isPushed = request.endpoint == .pushedAuthorization
      defer { if isPushed { pushedKey = request.proof?.keyThumbprint } }
      guard let field = fields.first else {
        expect(request.endpoint != .token, "no proof", request)
        // When the server refuses the proof of a pushed request, the client sends the request again
        // without a proof, and names the same key by its thumbprint.
        let key = request.form("dpop_jkt")
        expect(!isPushed || key != nil && key == pushedKey, "no proof", request)
        expect(request.endpoint?.proofParty != .api, "no proof", request)
        continue
      }
      expect(request.endpoint.map(Self.withoutProof.contains) == false, "a proof", request)
      let proof = try ReadJWT(field.value)
      try checkHeader(proof.header, request)
      checkClaims(proof.claims, request)
      let name = try #require(proof.claims["jti"]?.string)
      expect(name.utf8.count >= 16 && names.insert(name).inserted, "jti", request)
      checkToken(proof.claims, request)
    }
    checkKeys()
  }

  private mutating func checkHeader(_ header: SandboxJSON, _ request: SandboxRequest) throws {
    expect(header["typ"] == "dpop+jwt", "typ", request)
    let algorithm = try #require(header["alg"]?.string)
    expect(["ES256", "PS256", "EdDSA"].contains(algorithm), "alg", request)
    let members = try #require(header["jwk"]).names
    expect(Set(members).isSubset(of: ["kty", "crv", "x", "y", "n", "e"]), "jwk", request)
  }

  private mutating func checkClaims(_ claims: SandboxJSON, _ request: SandboxRequest) {
    expect(claims["htm"]?.string == request.method, "htm", request)
    // The URL must match byte for byte, because some servers do not normalize it.
    let address = sandbox.core.withState { $0.address }
    expect(claims["htu"]?.string == address + request.path, "htu", request)
    let now = Int(request.date.timeIntervalSince1970)
    expect(claims["iat"]?.integer.map { abs($0 - now) <= 300 } == true, "iat", request)
    let known: Set = ["jti", "htm", "htu", "iat", "ath", "nonce"]
    expect(Set(claims.names).isSubset(of: known), "other claims", request)
  }

  private mutating func checkToken(_ claims: SandboxJSON, _ request: SandboxRequest) {
    expect(request.query("access_token") == nil, "a token in the URL", request)
    expect(request.form("access_token") == nil, "a token in the form", request)
    guard request.endpoint?.proofParty == .api else {
      expect(claims["ath"] == nil, "ath at the authorization server", request)
      return
    }
    let fields = request.headers.filter { $0.name == "authorization" }
    expect(fields.count == 1 && fields[0].value.hasPrefix("DPoP "), "Authorization", request)
    let hash = request.boundToken.map { Crypto.digest(of: $0) }
    expect(hash != nil && claims["ath"]?.string == hash, "ath", request)
  }

  /// Checks that the proofs for each token have only one key, which was used in a token request.
  private mutating func checkKeys() {
    let keys = Set(sandbox.requests(to: .token).compactMap { $0.proof?.keyThumbprint })
    var keysOfTokens: [String: String] = [:]
    for request in sandbox.requests where request.endpoint?.proofParty == .api {
      guard let token = request.boundToken, let key = request.proof?.keyThumbprint else { continue }
      expect(keys.contains(key) || keys.isEmpty, "an unknown key", request)
      expect(keysOfTokens.updateValue(key, forKey: token) ?? key == key, "two keys", request)
    }
  }
}
