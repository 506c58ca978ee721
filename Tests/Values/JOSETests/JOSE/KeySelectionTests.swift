import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// How the right key is chosen among similar keys.
@Suite struct KeySelectionTests {
  private static let asymmetric = JWSAlgorithm.allCases.filter { !$0.isSymmetric }

  @Test(arguments: asymmetric)
  func `the right key is found among decoys with the same key ID`(algorithm: JWSAlgorithm) throws {
    let vector = try SignedVectors.one(algorithm)
    let key = try #require(vector.key)
    let decoys = SignedVectors.signed.compactMap(\.key).filter { $0 != key }
      .map { $0.with(["kid": key["kid"]]) }
    let text = try CompactJWS(vector.jws)
    try text.verify(with: .of(decoys + [key]), algorithm: algorithm)
    #expect { try text.verify(with: .of(decoys), algorithm: algorithm) } throws: {
      [JWSFailure.badSignature, .noKey].contains($0 as? JWSFailure)
    }
  }

  @Test(
    arguments: [
      ["use": "sig"], ["key_ops": ["verify"]], ["key_ops": ["sign", "verify"]],
      ["alg": "RS256"], ["use": "sig", "key_ops": ["verify"], "alg": "RS256"],
    ] as [[String: JSONValue]])
  func `a key that is allowed to verify is used`(members: [String: JSONValue]) throws {
    let vector = try SignedVectors.one(.rs256)
    let key = try #require(vector.key)
    try CompactJWS(vector.jws).verify(with: .of([key.with(members)]), algorithm: .rs256)
  }

  @Test(
    arguments: [
      ["use": "enc"], ["use": "SIG"], ["use": ""], ["key_ops": []], ["key_ops": ["sign"]],
      ["key_ops": ["encrypt", "wrapKey"]], ["use": "sig", "key_ops": ["encrypt"]],
      ["alg": "RS384"], ["alg": "PS256"], ["alg": "RSA-OAEP"], ["alg": "none"], ["alg": ""],
      ["kid": "another"], ["kid": ""],
    ] as [[String: JSONValue]])
  func `a key with an unsuitable use, operation, algorithm or key ID is not used`(
    members: [String: JSONValue]
  ) throws {
    let vector = try SignedVectors.one(.rs256)
    let key = try #require(vector.key)
    let set = try JSONWebKeySet.of([key.with(members)])
    let text = try CompactJWS(vector.jws)
    #expect(throws: JWSFailure.noKey) { try text.verify(with: set, algorithm: .rs256) }
  }

  @Test func `a key without a key ID does not match a header with a key ID`() throws {
    let vector = try SignedVectors.one(.rs256)
    let set = try JSONWebKeySet.of([try #require(vector.key).with(["kid": nil])])
    #expect(throws: JWSFailure.noKey) {
      try CompactJWS(vector.jws).verify(with: set, algorithm: .rs256)
    }
  }

  @Test func `a header without a key ID matches a key with any key ID`() throws {
    // These texts of RFC 7515 have no `kid`.
    let vectors = SignedVectors.signed.filter {
      $0.source.hasPrefix("RFC 7515") && $0.key != nil
    }
    #expect(vectors.map(\.algorithm) == [.rs256, .es256, .es512])
    for vector in vectors {
      let key = try #require(vector.key)
      let text = try CompactJWS(vector.jws)
      #expect(text.keyID == nil)
      let others = SignedVectors.signed.compactMap(\.key).filter { $0 != key }
      let named = others + [key.with(["kid": "any"])]
      try text.verify(with: .of(named), algorithm: vector.algorithm)
    }
  }

  @Test(arguments: asymmetric)
  func `a key set returns a key only for a text with its key ID and algorithm`(
    algorithm: JWSAlgorithm
  ) throws {
    let vector = try SignedVectors.one(algorithm)
    let text = try CompactJWS(vector.jws)
    let others = SignedVectors.signed.compactMap(\.key).filter { $0["kid"] != vector.key["kid"] }
    let own = try JSONWebKeySet.of([try #require(vector.key)])
    #expect(own.keys(for: text, algorithm).count == 1)
    #expect(own.keys(for: text, .hs256).isEmpty)
    #expect(try JSONWebKeySet.of(others).keys(for: text, algorithm).isEmpty)
  }
}
