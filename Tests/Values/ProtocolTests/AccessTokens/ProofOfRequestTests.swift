import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Requests to a resource server whose tokens are bound to a key (RFC 9449, sections 4.3 and 7).
@Suite(.timeLimit(.minutes(1))) struct ProofOfRequestTests {
  private static let url = "https://api.example/files/1"

  private let clock = ManualClock()
  private let key: ProofKey
  private let servers = ProofServers()

  init() throws { key = try ProofKey(.dpop(), supported: nil) }

  /// The two ways to check a token: by introspection, or by its signature.
  enum Checker: CaseIterable { case introspection, signedToken }

  private typealias Check = @Sendable (ProtectedRequest) async throws -> AccessTokenClaims?

  /// Returns a check of a request, a check of a token alone, and a token with the given
  /// confirmation (`cnf`).
  private func check(
    _ checker: Checker, confirmation: JSONValue?
  ) async throws -> (
    check: Check, plain: @Sendable (String) async throws -> AccessTokenClaims?, token: String
  ) {
    var environment = ClientEnvironment()
    environment.clock = clock
    let now = clock.now.timeIntervalSince1970
    var claims: [String: JSONValue] = [
      "iss": "https://id.example", "aud": "api", "sub": "alice",
      "exp": .integer(Int64(now) + 36_000),
    ]
    claims["cnf"] = confirmation
    switch checker {
    case .introspection:
      claims["active"] = true
      let body = String(decoding: try JSONEncoder().encode(claims), as: UTF8.self)
      environment.transport = ScriptedTransport(ScriptedTransport.json(body))
      let introspector = TokenIntrospector(
        try ClientConfiguration(
          clientID: "service", clientSecret: "secret",
          provider: .endpoints(
            token: "https://id.example/token", introspection: "https://id.example/introspect")),
        audience: "api", environment: environment)
      return (
        { try await introspector.validate($0) }, { try await introspector.claims(of: $0) }, "T"
      )
    case .signedToken:
      let issuer = try ClientKey(generating: .es256)
      let keys = try JSONEncoder().encode(
        JSONValue.object(["keys": .array([try #require(issuer.publicJWK)])]))
      environment.transport = ScriptedTransport(
        ScriptedTransport.json(String(decoding: keys, as: UTF8.self)))
      let validator = try AccessTokenValidator(
        provider: .endpoints(
          token: "https://id.example/token", jwks: "https://id.example/jwks",
          issuer: "https://id.example"), audience: "api", profile: .anyJWT,
        environment: environment)
      return (
        { try await validator.validate($0) }, { try await validator.validate($0) },
        try await issuer.sign(claims)
      )
    }
  }

  private func proof(
    _ token: String, method: String = "GET", url: String = ProofOfRequestTests.url,
    by key: ProofKey? = nil
  ) async throws -> String {
    try await Prover(key ?? self.key, appKey: nil, servers, clock).proof(
      of: method, try #require(URL(string: url)), to: .resource, token: token
    ).text
  }

  private func request(
    _ token: String, scheme: String = "DPoP", proofs: [String], method: String = "GET",
    url: String = ProofOfRequestTests.url
  ) throws -> ProtectedRequest {
    ProtectedRequest(
      method: method, url: try #require(URL(string: url)),
      authorization: ["\(scheme) \(token)"], proofs: proofs)
  }

  private var confirmation: JSONValue { ["jkt": .string(key.thumbprint)] }

  @Test(arguments: Checker.allCases)
  func `a bound token with a new proof is valid`(checker: Checker) async throws {
    let (check, _, token) = try await check(checker, confirmation: confirmation)
    for scheme in ["DPoP", "dpop", "DPOP"] {
      let claims = try await check(
        request(token, scheme: scheme, proofs: [proof(token)]))
      #expect(claims?.subject == "alice" && claims?.proofKeyThumbprint == key.thumbprint)
    }
  }

  @Test(arguments: Checker.allCases)
  func `a bound token without a proof or with the scheme Bearer is refused`(checker: Checker)
    async throws
  {
    let (check, plain, token) = try await check(checker, confirmation: confirmation)
    await failure(.accessTokenInvalid) { try await plain(token) }
    await failure(.accessTokenInvalid) {
      try await check(request(token, scheme: "Bearer", proofs: []))
    }
    await failure(.accessTokenInvalid) {
      try await check(request(token, scheme: "Bearer", proofs: [proof(token)]))
    }
    await failure(.invalidDPoPProof) { try await check(request(token, proofs: [])) }
  }

  @Test(arguments: Checker.allCases)
  func `a Bearer token needs no proof, and cannot be used as a bound one`(
    checker: Checker
  ) async throws {
    let (check, plain, token) = try await check(checker, confirmation: nil)
    #expect(try await plain(token)?.subject == "alice")
    #expect(try await check(request(token, scheme: "Bearer", proofs: []))?.subject == "alice")
    await failure(.accessTokenInvalid) { try await check(request(token, proofs: [proof(token)])) }
  }

  @Test(arguments: Checker.allCases)
  func `a token with an unknown confirmation or a missing certificate is refused`(
    checker: Checker
  ) async throws {
    for confirmation: JSONValue in [
      ["x5t#S256": "x"], ["kid": "k"], ["jkt": 1], ["jkt": ""], "x", [:], ["jkt": "x", "jwk": [:]],
    ] {
      let (check, plain, token) = try await check(checker, confirmation: confirmation)
      await failure(.accessTokenInvalid) { try await plain(token) }
      await failure(.accessTokenInvalid) {
        try await check(request(token, scheme: "Bearer", proofs: []))
      }
      await failure(.accessTokenInvalid) { try await check(request(token, proofs: [proof(token)])) }
    }
  }

  /// RFC 8705, section 3.
  @Test(arguments: Checker.allCases)
  func `a token that is bound to a certificate is valid only with that certificate`(
    checker: Checker
  ) async throws {
    let certificate = Data("certificate".utf8)
    let thumbprint = Base64URL.encode(Digest.sha256(certificate))
    for confirmation: JSONValue in [
      ["x5t#S256": .string(thumbprint)],
      ["x5t#S256": .string(thumbprint), "jkt": .string(key.thumbprint)],
    ] {
      let (check, plain, token) = try await check(checker, confirmation: confirmation)
      let isBound = confirmation.object?["jkt"] != nil
      func request(_ certificate: Data?) async throws -> ProtectedRequest {
        ProtectedRequest(
          method: "GET", url: try #require(URL(string: Self.url)),
          authorization: ["\(isBound ? "DPoP" : "Bearer") \(token)"],
          proofs: isBound ? [try await proof(token)] : [], certificate: certificate)
      }
      #expect(try await check(request(certificate))?.certificateThumbprint == thumbprint)
      await failure(.accessTokenInvalid) { try await check(request(nil)) }
      await failure(.accessTokenInvalid) { try await check(request(Data("other".utf8))) }
      await failure(.accessTokenInvalid) { try await plain(token) }
    }
  }

  @Test func `a proof with another key, token, method or URL is refused`() async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let other = try ProofKey(.dpop(), supported: nil)
    await failure(.accessTokenInvalid) {
      try await check(request(token, proofs: [proof(token, by: other)]))
    }
    let wrong = [
      try await proof("other token"), try await proof(token, method: "POST"),
      try await proof(token, method: "get"), try await proof(token, url: Self.url + "0"),
      try await proof(token, url: "https://api.example/files%2F1"),
      try await proof(token, url: "http://127.0.0.1/files/1"),
      try await proof(token, url: "https://api.example:444/files/1"),
    ]
    for proof in wrong {
      await failure(.invalidDPoPProof) { try await check(request(token, proofs: [proof])) }
    }
  }

  @Test func `a proof's URL may be spelled differently and omit the query`() async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    for (own, named) in [
      (Self.url + "?page=2", Self.url), ("https://API.example:443/files/1", Self.url),
      ("https://api.example/~a%2fb", "https://api.example/%7Ea%2Fb"),
      ("https://api.example", "https://api.example/"),
    ] {
      let proof = try await proof(token, url: named)
      #expect(try await check(request(token, proofs: [proof], url: own)) != nil)
    }
  }

  @Test func `a proof is accepted only once`() async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let proof = try await proof(token)
    #expect(try await check(request(token, proofs: [proof])) != nil)
    await failure(.invalidDPoPProof) { try await check(request(token, proofs: [proof])) }
  }

  @Test(arguments: [(-61.0, false), (-59, true), (0, true), (119, true), (122, false)])
  func `a proof is valid for a minute, plus the tolerance for clock differences`(
    age: Double, isValid: Bool
  ) async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    clock.advance(by: 1000)
    let later = ManualClock()
    later.advance(by: 1000 - age)
    let text = try await Prover(key, appKey: nil, servers, later).proof(
      of: "GET", try #require(URL(string: Self.url)), to: .resource, token: token
    ).text
    let request = try request(token, proofs: [text])
    if isValid {
      #expect(try await check(request) != nil)
    } else {
      await failure(.invalidDPoPProof) { try await check(request) }
    }
  }

  @Test func `a proof that one introspector accepted is refused by another in the process`()
    async throws
  {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let (other, _, _) = try await self.check(.introspection, confirmation: confirmation)
    let proof = try await proof(token)
    #expect(try await check(request(token, proofs: [proof])) != nil)
    await failure(.invalidDPoPProof) { try await other(request(token, proofs: [proof])) }
  }

  @Test(arguments: ["DPoP", "dpop", "pop", "mac"])
  func `a token of the type DPoP, PoP or MAC is refused as a Bearer token`(type: String)
    async throws
  {
    var environment = ClientEnvironment()
    environment.transport = ScriptedTransport(
      ScriptedTransport.json(#"{"active":true,"sub":"alice","token_type":"\#(type)"}"#))
    let introspector = TokenIntrospector(
      try ClientConfiguration(
        clientID: "service", clientSecret: "secret",
        provider: .endpoints(
          token: "https://id.example/token", introspection: "https://id.example/introspect")),
      audience: nil, environment: environment)
    await failure(.accessTokenInvalid) { try await introspector.claims(of: "T") }
    await failure(.accessTokenInvalid) {
      try await introspector.claims(of: request("T", scheme: "Bearer", proofs: []))
    }
  }

  @Test func `requireBound rejects a Bearer token and accepts a DPoP-bound token`() async throws {
    let (check, _, token) = try await check(.introspection, confirmation: nil)
    let claims = try #require(try await check(request(token, scheme: "Bearer", proofs: [])))
    failure(.accessTokenInvalid) { try claims.requireBound() }
    let (bound, _, other) = try await self.check(.introspection, confirmation: confirmation)
    let proven = try #require(try await bound(request(other, proofs: [proof(other)])))
    try proven.requireBound()
  }

  @Test func `two proofs, an overlong proof and a malformed proof are refused`() async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let proof = try await proof(token)
    let parts = proof.split(separator: ".").map(String.init)
    let none = Base64URL.encode(Data(#"{"alg":"none","typ":"dpop+jwt"}"#.utf8))
    for proofs in [
      [proof, proof], [proof + String(repeating: "A", count: 9000)], [""], ["a.b.c"], [parts[0]],
      ["\(parts[0]).\(parts[1]).\(parts[1])"], ["\(none).\(parts[1])."],
    ] {
      await failure(.invalidDPoPProof) { try await check(request(token, proofs: proofs)) }
    }
  }

  @Test(
    arguments: [
      ([], .accessTokenMissing), (["Basic abc"], .accessTokenMissing), ([""], .accessTokenMissing),
      (["DPoP"], .authorizationMalformed), (["DPoP "], .authorizationMalformed),
      (["DPoP a b"], .authorizationMalformed), (["DPoP a, DPoP b"], .authorizationMalformed),
      (["Bearer a", "DPoP a"], .authorizationMalformed),
      (["DPoP a", "DPoP a"], .authorizationMalformed),
    ] as [([String], SQOAuthError.Code)])
  func `a missing, unsuitable or repeated Authorization field is refused`(
    fields: [String], code: SQOAuthError.Code
  ) async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let request = ProtectedRequest(
      method: "GET", url: try #require(URL(string: Self.url)), authorization: fields,
      proofs: [try await proof(token)])
    await failure(code) { try await check(request) }
    #expect(!everyText(of: request).contains("files"))
  }

  /// Each row is a header that a server must refuse (RFC 9449, section 4.3).
  @Test(arguments: [
    #""typ":"JWT","alg":"ES256","jwk":PUBLIC"#, #""alg":"ES256","jwk":PUBLIC"#,
    #""typ":"dpop+jwt","alg":"ES384","jwk":PUBLIC"#,
    #""typ":"dpop+jwt","alg":"HS256","jwk":PUBLIC"#,
    #""typ":"dpop+jwt","alg":"none","jwk":PUBLIC"#, #""typ":"dpop+jwt","alg":"ES256""#,
    #""typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"oct","k":"AAAA"}"#,
    #""typ":"dpop+jwt","alg":"ES256","crit":["x"],"x":1,"jwk":PUBLIC"#,
  ])
  func `a proof whose header has a wrong typ, alg, jwk or crit is refused`(header: String)
    async throws
  {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let right = #""typ":"dpop+jwt","alg":"ES256","jwk":PUBLIC"#
    for (header, isValid) in [(header, false), (right, true)] {
      let proof = try await proof(token, header: header)
      let request = try request(token, proofs: [proof])
      if isValid {
        #expect(try await check(request) != nil)
      } else {
        await failure(.invalidDPoPProof) { try await check(request) }
      }
    }
  }

  @Test(arguments: [#""n":"AA""#, #""e":"\"}""#, #""n":null,"e":"AQAB""#])
  func `members of other types of key in a proof's jwk do not change its thumbprint`(
    members: String
  ) async throws {
    let (check, _, token) = try await check(.introspection, confirmation: confirmation)
    let proof = try await proof(
      token, header: #""typ":"dpop+jwt","alg":"ES256","jwk":PUBLIC"#, jwkMembers: members)
    #expect(try await check(request(token, proofs: [proof]))?.proofKeyThumbprint == key.thumbprint)
  }

  /// Returns a proof with a header in which `PUBLIC` stands for the public key.
  ///
  /// `jwkMembers` are further members of the key.
  private func proof(
    _ token: String, header: String, jwkMembers: String? = nil
  ) async throws -> String {
    let pair = try #require(key.pair)
    var publicJWK = JWKThumbprint.text(of: pair.privateKey.publicMembers)
    if let jwkMembers { publicJWK = "{\(jwkMembers),\(publicJWK.dropFirst())" }
    let text = "{\(header.replacing("PUBLIC", with: publicJWK))}"
    let claims = try await proof(token).split(separator: ".")[1]
    let input = Base64URL.encode(text) + "." + claims
    let signature = try #require(
      pair.privateKey.signature(of: Data(input.utf8), by: .ecdsa(.p256, .sha256)))
    return input + "." + Base64URL.encode(signature)
  }
}
