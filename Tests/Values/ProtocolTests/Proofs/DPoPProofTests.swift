import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// The proofs of RFC 9449, section 4.2.
@Suite struct DPoPProofTests {
  private let servers = ProofServers()
  private let clock = ManualClock()

  private func proof(
    _ method: String = "GET", _ url: String, token: String? = nil, by key: ProofKey? = nil
  ) async throws -> SentProof {
    let key = try key ?? ProofKey(.dpop(), supported: nil)
    let prover = try Prover(key, appKey: nil, servers, clock)
    return try SentProof(
      try await prover.proof(
        of: method, try #require(URL(string: url)), to: .resource, token: token
      ).text)
  }

  @Test(arguments: [
    ("https://api.example/a/b", "https://api.example/a/b"),
    ("https://api.example/a?x=1&y=%20", "https://api.example/a"),
    ("https://api.example/a#part", "https://api.example/a"),
    ("https://api.example/a/?x#part", "https://api.example/a/"),
    ("https://API.Example/A%2fb", "https://api.example/A%2fb"),
    ("https://api.example:443/a", "https://api.example/a"),
    ("https://api.example:8443/a", "https://api.example:8443/a"),
    ("http://127.0.0.1:80/a", "http://127.0.0.1/a"),
    ("http://[::1]:8080/a", "http://[::1]:8080/a"),
    ("https://api.example", "https://api.example/"),
    ("https://api.example?x=1", "https://api.example/"),
    ("https://api.example/a//b/./c", "https://api.example/a//b/./c"),
  ])
  func `the proof names the URL as it is sent, without query and fragment`(
    url: String, named: String
  ) async throws {
    #expect(try await proof("GET", url)["htu"] == named)
  }

  @Test func `each proof has a new jti, the request's method and the time`() async throws {
    let first = try await proof("PATCH", "https://api.example/")
    let second = try await proof("PATCH", "https://api.example/")
    #expect(first["htm"] == "PATCH" && first.time == Int64(clock.now.timeIntervalSince1970))
    #expect(first.id != second.id)
    // RFC 9449, section 4.2, demands at least 96 random bits, which are 16 characters.
    #expect((first.id?.utf8.count ?? 0) >= 16)
    #expect(Set(first.claims.keys) == ["htm", "htu", "iat", "jti"])
  }

  /// The token and the digest of the example in RFC 9449, section 7.1.
  @Test func `a proof for a resource server has the digest of the token`() async throws {
    let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
    let proof = try await proof(
      "GET", "https://resource.example.org/protectedresource", token: token)
    #expect(proof.tokenDigest == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
  }

  /// The key and the thumbprint of the examples in RFC 9449, sections 4.1 and 6.1.
  @Test func `the example key of RFC 9449 gives the published thumbprint`() {
    let members = [
      "kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
      "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
    ]
    #expect(
      JWKThumbprint.of(members)
        == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
  }

  @Test(arguments: [JWSAlgorithm.es256, .es384, .es512, .edDSA])
  func `a key of each kind signs proofs, also after it was stored`(
    algorithm: JWSAlgorithm
  ) async throws {
    let key = try ProofKey(.dpop(algorithm: algorithm), supported: nil)
    let stored = try JSONDecoder().decode(ProofKey.self, from: JSONEncoder().encode(key))
    #expect(stored == key)
    for key in [key, stored] {
      let proof = try await proof("GET", "https://api.example/", by: key)
      #expect(proof.algorithm == algorithm && proof.thumbprint == key.thumbprint)
    }
  }

  @Test func `the app's own RSA key signs proofs, and the store has only its thumbprint`()
    async throws
  {
    let key = try MadeKeys.key(for: .ps256)
    let stored = try JSONEncoder().encode(try ProofKey(.dpopKey(key), supported: nil))
    #expect(!String(decoding: stored, as: UTF8.self).contains("\"key\""))
    let name = try JSONDecoder().decode(ProofKey.self, from: stored)
    let prover = try Prover(name, appKey: key, servers, clock)
    let url = try #require(URL(string: "https://api.example/"))
    let proof = try SentProof(try await prover.proof(of: "GET", url, to: .resource).text)
    #expect(proof.thumbprint == name.thumbprint && proof.algorithm == .ps256)
    #expect(throws: SQOAuthError.self) { try Prover(name, appKey: nil, servers, clock) }
    let other = try ClientKey(generating: .es256)
    #expect(throws: SQOAuthError.self) { try Prover(name, appKey: other, servers, clock) }
  }

  @Test func `a remote key signs proofs if its public key is known`() async throws {
    let key = try ClientKey(generating: .es256)
    let remote = try ClientKey(
      algorithm: .es256, keyID: nil,
      publicJWK: String(decoding: JSONEncoder().encode(key.publicJWK), as: UTF8.self)
    ) { try await key.signature(of: $0) }
    let prover = try Prover(
      try ProofKey(.dpopKey(remote), supported: nil), appKey: remote, servers, clock)
    let url = try #require(URL(string: "https://api.example/"))
    let proof = try SentProof(try await prover.proof(of: "GET", url, to: .resource).text)
    #expect(proof.thumbprint == key.keyID)
    let nameless = try ClientKey(algorithm: .es256, keyID: nil) { _ in Data() }
    #expect(throws: SQOAuthError.self) { try ProofKey(.dpopKey(nameless), supported: nil) }
  }

  @Test(
    arguments: [
      (nil, nil, JWSAlgorithm.es256), (nil, ["PS256", "EdDSA"], .edDSA), (nil, ["Ed25519"], .edDSA),
      (nil, ["RS256", "ES256"], .es256), (.es384, ["ES256", "ES384"], .es384),
      (.es512, nil, .es512),
    ] as [(JWSAlgorithm?, [String]?, JWSAlgorithm)])
  func `the server's list determines the algorithm if the app chooses none`(
    chosen: JWSAlgorithm?, supported: [String]?, expected: JWSAlgorithm
  ) throws {
    let key = try ProofKey(.dpop(algorithm: chosen), supported: supported)
    #expect(key.algorithm == expected.name(in: supported))
  }

  @Test(
    arguments: [(nil, ["RS256"]), (nil, []), (.es256, ["PS256"])] as [(JWSAlgorithm?, [String])])
  func `a server that lists no usable algorithm is refused`(
    chosen: JWSAlgorithm?, supported: [String]
  ) {
    failure(.signInUnsupported) {
      try ProofKey(.dpop(algorithm: chosen), supported: supported)
    }
  }

  @Test func `a shared secret cannot sign proofs`() {
    failure(.invalidConfiguration) {
      try ProofKey(.dpop(algorithm: .hs256), supported: nil)
    }
  }

  @Test(arguments: [
    #"{"alg":"ES256"}"#, #"{"alg":"ES256","key":"AAAA"}"#, #"{"key":"AAAA","jkt":"x"}"#, "[]",
  ])
  func `a damaged key in a store is an error`(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ProofKey.self, from: Data(text.utf8))
    }
  }

  @Test func `no description shows a key or a proof`() async throws {
    let key = try ProofKey(.dpop(), supported: nil)
    let secret = try #require(try key.storedKey)
    let prover = try Prover(key, appKey: nil, servers, clock)
    let url = try #require(URL(string: "https://api.example/"))
    let proof = try await prover.proof(of: "GET", url, to: .resource)
    for value in [key, TokenBinding.dpop(), prover, proof] as [Any] {
      let text = everyText(of: value)
      #expect(!text.contains(secret) && !text.contains(proof.text))
    }
  }
}
