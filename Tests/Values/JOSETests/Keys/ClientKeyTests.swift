import Foundation
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// The keys that a client signs with.
@Suite(.timeLimit(.minutes(2))) struct ClientKeyTests {
  // MARK: Creating and reading

  @Test(arguments: MadeKeys.algorithms)
  func `a new key signs, also after it was written and read`(algorithm: JWSAlgorithm) async throws {
    let key = try ClientKey(generating: algorithm)
    let claims: [String: JSONValue] = ["iss": "a/b", "n": 1]
    #expect(try MadeKeys.claims(of: await key.sign(claims), by: key) == claims)
    let members = try #require(key.publicJWK?.object)
    #expect(members["alg"]?.string == algorithm.rawValue && members["use"]?.string == "sig")
    #expect(Set(members.keys).isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "k"]))
    let copies = [
      try ClientKey(pem: try key.pem(), algorithm: algorithm),
      try ClientKey(
        pem: try key.pem(passphrase: "pässword"), algorithm: algorithm, passphrase: "pässword"),
    ]
    for copy in copies {
      #expect(copy == key && copy.keyID == key.keyID && copy.hashValue == key.hashValue)
      #expect(try MadeKeys.claims(of: await copy.sign(claims), by: key) == claims)
    }
  }

  @Test(arguments: [JWSAlgorithm.rs256, .es256, .edDSA])
  func `each new key is different`(algorithm: JWSAlgorithm) throws {
    #expect(try ClientKey(generating: algorithm) != ClientKey(generating: algorithm))
  }

  @Test func `the file of test vectors has four published keys`() {
    #expect(PublishedKey.all.count == 4)
  }

  @Test(arguments: PublishedKey.all)
  func `a published key creates a signature that its public key verifies`(vector: PublishedKey)
    async throws
  {
    let algorithm = try #require(JWSAlgorithm(rawValue: vector.algorithm))
    let published = try #require(
      SignedVectors.signed.first {
        $0.source == vector.source && $0.algorithm == algorithm
      })
    let key = try ClientKey(jwk: try vector.text(), algorithm: algorithm)
    if let thumbprint = vector.thumbprint { #expect(key.keyID == thumbprint) }
    let text = try CompactJWS(published.jws)
    guard case .here(let privateKey) = key.signer, let scheme = algorithm.scheme else {
      Issue.record("no private key")
      return
    }
    let signature = try #require(privateKey.signature(of: text.signingInput, by: scheme))
    let other =
      String(decoding: text.signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    try published.verify(other)
    // The other schemes create a different signature each time.
    if [.rs256, .edDSA].contains(algorithm) { #expect(other == published.jws) }
  }

  @Test(arguments: MadeKeys.algorithms)
  func `members of other key types change neither a key's thumbprint nor its public half`(
    algorithm: JWSAlgorithm
  ) throws {
    let key = try MadeKeys.key(for: algorithm)
    var members = try #require(key.publicJWK?.object)
    for name in ["crv", "e", "n", "x", "y"] where members[name] == nil { members[name] = "AA" }
    #expect(ClientKey.thumbprint(of: members) == key.keyID)
    let remote = try ClientKey(
      algorithm: algorithm, keyID: key.keyID,
      publicJWK: String(decoding: JSONEncoder().encode(members), as: UTF8.self)
    ) { $0 }
    #expect(remote.publicJWK == key.publicJWK)
  }

  @Test func `an RSA key does not need its primes`() async throws {
    let rsa = try #require(PublishedKey.all.first)
    let names = ["p", "q", "dp", "dq", "qi"]
    let short = try ClientKey(jwk: try rsa.text { for name in names { $0[name] = nil } })
    let whole = try ClientKey(jwk: try rsa.text())
    #expect(short == whole && short.algorithm == .rs256)
    #expect(try await short.sign(["a": 1]) == whole.sign(["a": 1]))
    failure(.invalidConfiguration) { try short.pem() }
    #expect(try whole.pem().hasPrefix("-----BEGIN PRIVATE KEY-----"))
  }

  @Test func `the caller may replace the key's name and algorithm`() throws {
    let rsa = try #require(PublishedKey.all.first)
    let text = try rsa.text { $0["alg"] = "PS256" }
    #expect(try ClientKey(jwk: text).algorithm == .ps256)
    #expect(try ClientKey(jwk: text).keyID == "bilbo.baggins@hobbiton.example")
    let named = try ClientKey(jwk: text, algorithm: .rs512, keyID: "mine")
    #expect(named.algorithm == .rs512 && named.keyID == "mine")
    #expect(named.publicJWK?["kid"]?.string == "mine")
  }

  @Test(arguments: ["RSA", "RSA-OAEP", "HS256", "none", 1] as [JSONValue])
  func `an unusable alg in a key matters only if the caller names no algorithm`(
    own: JSONValue
  ) throws {
    let text = try PublishedKey.all[0].text { $0["alg"] = own }
    let key = try ClientKey(jwk: text, algorithm: .ps256)
    #expect(key.algorithm == .ps256 && key.publicJWK?["alg"]?.string == "PS256")
    failure(.invalidConfiguration) { try ClientKey(jwk: text) }
  }

  // MARK: Refusals

  @Test(arguments: JWSAlgorithm.allCases.filter(\.isSymmetric))
  func `a client key with a symmetric algorithm is rejected`(algorithm: JWSAlgorithm) throws {
    failure(.invalidConfiguration) { try ClientKey(generating: algorithm) }
    failure(.invalidConfiguration) {
      try ClientKey(algorithm: algorithm, keyID: nil) { $0 }
    }
  }

  @Test(
    arguments: [
      ("x", JSONValue.string("AHKZLLOsCOzz5cY97ewNUajB957y")), ("d", nil), ("d", ""),
      (
        "y",
        "AAhRON2r9cqXX1hg-RoI6R1tX5p2rUAYdmpHZoC1XNM56KtscrX6zbKipQrCW9CGZH3T4ubpnoTKLDYJ_fF3_rJt"
      ),
      ("crv", "P-256"), ("crv", "secp256k1"), ("kty", "RSA"), ("kty", nil), ("use", "enc"),
      ("alg", "ES256"), ("alg", "HS256"), ("alg", "none"), ("alg", 1), ("d", "A+=="),
      ("key_ops", ["verify"]), ("key_ops", []), ("key_ops", "sign"),
    ] as [(String, JSONValue?)])
  func `an incomplete or inconsistent key is rejected`(name: String, value: JSONValue?) throws {
    let text = try PublishedKey.all[2].text { $0[name] = value }
    let error = failure(.invalidConfiguration) { try ClientKey(jwk: text) }
    if let error { #expect(!everyText(of: error).contains("AAhRON2r9")) }
  }

  @Test func `an RSA key with exponents of 1 is rejected`() throws {
    let text = try PublishedKey.all[0].text { members in
      for name in ["p", "q", "dp", "dq", "qi"] { members[name] = nil }
      (members["e"], members["d"]) = ("AQ", "AQ")
    }
    failure(.invalidConfiguration) { try ClientKey(jwk: text) }
  }

  @Test func `a key whose private part belongs to a different key is rejected`() throws {
    let other = try ClientKey(generating: .edDSA)
    let text = try PublishedKey.all[3].text { $0["x"] = other.publicJWK?["x"] }
    failure(.invalidConfiguration) { try ClientKey(jwk: text) }
    let rsa = try PublishedKey.all[0].text {
      $0["d"] = "bWUC9B-EFRIo8kpGfh0ZuyGPvMNKvYWNtB_ikiH9k20"
    }
    failure(.invalidConfiguration) { try ClientKey(jwk: rsa) }
  }

  @Test(arguments: ["", "{}", "[]", "{\"kty\":\"OKP\",\"kty\":\"OKP\"}", "\u{0}", "null"])
  func `a text that is not a key is rejected`(text: String) throws {
    failure(.invalidConfiguration) { try ClientKey(jwk: text) }
    failure(.invalidConfiguration) { try ClientKey(pem: text) }
  }

  @Test func `a key is rejected for an algorithm of another kind`() throws {
    let pem = try ClientKey(generating: .es256).pem()
    #expect(try ClientKey(pem: pem).algorithm == .es256)
    for algorithm in [JWSAlgorithm.rs256, .es384, .edDSA, .hs256] {
      failure(.invalidConfiguration) { try ClientKey(pem: pem, algorithm: algorithm) }
    }
  }

  @Test func `a key for several operations, and a key after a byte order mark, are read`() throws {
    let text = try PublishedKey.all[2].text { $0["key_ops"] = ["sign", "verify"] }
    #expect(try ClientKey(jwk: text) == ClientKey(jwk: "\u{FEFF}" + text))
    let pem = try ClientKey().pem()
    #expect(try ClientKey(pem: "\u{FEFF}" + pem) == ClientKey(pem: pem))
    failure(.invalidConfiguration) { try ClientKey(jwk: "\u{FEFF}\u{FEFF}" + text) }
  }

  @Test func `a text with two keys is rejected, because either may be meant`() throws {
    let (one, other) = (try ClientKey().pem(), try ClientKey().pem())
    let error = failure(.invalidConfiguration) { try ClientKey(pem: one + other) }
    #expect(error?.message.contains("several private keys") == true)
  }

  /// The key is an Ed448 key, which is one of several unsupported types.
  @Test func `the error for a key of an unsupported type names the type`() throws {
    let pem = """
      -----BEGIN PRIVATE KEY-----
      MEcCAQAwBQYDK2VxBDsEOVo6CNuBt515k0JvhN06+GG3cnEnA1wt/2/MSMU1jWD9
      3BjDNEiySxSdilqb+x6fFn1juI6hVihJ9Q==
      -----END PRIVATE KEY-----
      """
    let error = failure(.invalidConfiguration) { try ClientKey(pem: pem) }
    #expect(error?.message.contains("type ED448") == true)
  }

  @Test func `a missing, wrong or superfluous passphrase is reported`() throws {
    let key = try ClientKey(generating: .es256)
    let (plain, sealed) = (try key.pem(), try key.pem(passphrase: "right"))
    #expect(sealed.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
    #expect(plain.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    for (text, passphrase) in [(sealed, nil), (sealed, "wrong"), (plain, "right")] {
      failure(.wrongPassphrase) { try ClientKey(pem: text, passphrase: passphrase) }
    }
    for passphrase in ["", "a\u{0}b", String(repeating: "x", count: 1025)] {
      failure(.invalidConfiguration) { try key.pem(passphrase: passphrase) }
      failure(.invalidConfiguration) { try ClientKey(pem: sealed, passphrase: passphrase) }
    }
    let longest = String(repeating: "ü", count: 512)
    #expect(
      try ClientKey(pem: try key.pem(passphrase: longest), passphrase: longest) == key)
  }

  /// OpenSSL in FIPS mode has PBKDF2, with which other programs seal keys, but no scrypt.
  @Test func `only a key that is sealed with scrypt needs scrypt`() throws {
    let sealed = try ClientKey(generating: .es256).pem(passphrase: "p")
    #expect(PEMKey.usesScrypt(sealed))
    #expect(PEMKey.usesScrypt(sealed.replacing("\n", with: "\r\n")))
    let other = """
      -----BEGIN ENCRYPTED PRIVATE KEY-----
      MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiqc0lzSsaZSwICCAAw
      DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEI2C6NJEtAoBRcZCIbAugmsEgZAb
      2GNq1YCUnJZXcArC22z6SeymcjT/CvQJSG5P5haeGjpSSahwzoolK1TosD9N6GXo
      eYruQC5lutMZfIu2qM0jSY/tFF1LbCGDrJ93n79qLqBjzJJ7BJD7t8Su9TOVRZOj
      Qe86uKYw6isVmchuhEyKv8FCDdKl2rxcFa6DHRa1sD23ez24fb+gV7tLPFhlEqc=
      -----END ENCRYPTED PRIVATE KEY-----
      """
    #expect(!PEMKey.usesScrypt(other))
    #expect(try ClientKey(pem: other, passphrase: "p").algorithm == .es256)
    failure(.wrongPassphrase) { try ClientKey(pem: other, passphrase: "wrong") }
  }

  @Test func `a printed key shows only its algorithm and its name`() throws {
    let key = try ClientKey(generating: .es256)
    #expect("\(key)" == "client key ES256 \"\(key.keyID ?? "")\"")
    let number = try #require(key.publicJWK?["x"]?.string)
    #expect(!everyText(of: key).contains(number))
  }
}
