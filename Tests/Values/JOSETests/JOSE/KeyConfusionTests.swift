import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// Keys that can verify something, but not the given text.
@Suite struct KeyConfusionTests {
  /// - SeeAlso: RFC 8725, section 2.1
  @Test func `a public key is never used as a shared secret`() throws {
    let confused = try SignedVectors.all.get().confused
    let text = try CompactJWS(confused.jws)
    let keys = try JSONWebKeySet.of([confused.key])
    // The signature is right for a verifier that uses the public key as a secret.
    try text.verify(secret: Data(confused.publicKey.utf8), algorithm: .hs256)
    #expect(throws: JWSFailure.algorithm(found: "HS256")) {
      try text.verify(with: keys, algorithm: .rs256)
    }
    #expect(throws: JWSFailure.noKey) { try text.verify(with: keys, algorithm: .hs256) }
  }

  @Test func `a shared secret does not verify a text signed with RS256`() throws {
    let text = try CompactJWS(SignedVectors.one(.rs256).jws)
    #expect(throws: JWSFailure.noKey) {
      try text.verify(secret: SecretlySigned.secret, algorithm: .rs256)
    }
  }

  @Test(arguments: [
    (JWSAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64),
  ])
  func `a secret shorter than a digest is weak`(algorithm: JWSAlgorithm, least: Int) throws {
    let text = try CompactJWS(SignedVectors.one(algorithm).jws)
    for count in [0, 1, least - 1] {
      #expect(throws: JWSFailure.weakKey) {
        try text.verify(secret: Data(count: count), algorithm: algorithm)
      }
    }
    #expect(throws: JWSFailure.badSignature) {
      try text.verify(secret: Data(count: least), algorithm: algorithm)
    }
  }

  @Test func `a short RSA key is weak, even if the signature is right`() throws {
    let weak = try SignedVectors.all.get().weak
    #expect(weak.map(\.algorithm) == [.rs256, .ps256])
    for vector in weak {
      #expect(throws: JWSFailure.weakKey) { try vector.verify() }
      // The signature itself is right.
      let text = try CompactJWS(vector.jws)
      let key = try #require(vector.key.flatMap(JSONWebKey.init)?.publicKey)
      let scheme = try #require(vector.algorithm.scheme)
      #expect(key.isValid(text.signature, of: text.signingInput, by: scheme))
      #expect(key.isWeak && key.bits == 1024)
    }
  }

  @Test func `a weak key next to a strong one is not used`() throws {
    let weak = try #require(SignedVectors.all.get().weak.first)
    let sound = try SignedVectors.one(.rs256).key
    let name: [String: JSONValue?] = ["kid": "rsa-1024"]
    let keys = try JSONWebKeySet.of([weak.key, sound].compactMap { $0?.with(name) })
    #expect(throws: JWSFailure.badSignature) {
      try CompactJWS(weak.jws).verify(with: keys, algorithm: .rs256)
    }
  }

  @Test func `keys and key addresses in the header are ignored`() throws {
    let key = try #require(SignedVectors.one(.rs256).key)
    let jwk = String(decoding: try JSONEncoder().encode(key), as: UTF8.self)
    let header = """
      {"alg":"HS256","jku":"https://evil.example/keys","x5u":"https://evil.example/x",\
      "x5c":["MII"],"x5t":"AA","jwk":\(jwk)}
      """
    let text = try CompactJWS(SecretlySigned.text(header: header))
    try text.verify(secret: SecretlySigned.secret, algorithm: .hs256)
    #expect(throws: JWSFailure.noKey) { try text.verify(with: .of([]), algorithm: .hs256) }
  }
}
