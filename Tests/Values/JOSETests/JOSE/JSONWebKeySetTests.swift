import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

@Suite struct JSONWebKeySetTests {
  @Test(arguments: [
    "", "null", "[]", "{}", #"{"keys":null}"#, #"{"keys":{}}"#, #"{"keys":"x"}"#,
    #"{"keys":[],"keys":[]}"#, #"{"keys":[{"kty":"RSA","kty":"EC"}]}"#,
    #"{"keys":[{"kid":"a","\u006bid":"b"}]}"#, #"{"keys":[]"#,
  ])
  func `a text that is not a set of keys, or repeats a name, is malformed`(text: String) {
    #expect { try JSONWebKeySet(Data(text.utf8)) } throws: { error in
      guard case .malformed = error as? JWSFailure else { return false }
      return true
    }
  }

  @Test func `a set has a bounded size and number of keys`() throws {
    let blank = Data(repeating: 0x20, count: JSONWebKeySet.maximumSize)
    #expect(throws: JWSFailure.tooLong) { try JSONWebKeySet(Data(#"{"keys":[]}"#.utf8) + blank) }
    let key = try #require(SignedVectors.one(.edDSA).key)
    let most = Array(repeating: key, count: JSONWebKeySet.maximumKeys)
    // Keys that the SDK does not understand do not count toward the limit.
    _ = try JSONWebKeySet.of(most + Array(repeating: [:], count: 200))
    #expect(throws: JWSFailure.tooLong) { _ = try JSONWebKeySet.of(most + [key]) }
  }

  @Test func `keys that the SDK does not understand are skipped`() throws {
    let vector = try SignedVectors.one(.es256)
    let key = try #require(vector.key)
    let strange: [JSONValue] = [
      .null, "key", 1, [], [:], ["kty": "oct", "k": "AAAA"], ["kty": "AKP", "alg": "ML-DSA-44"],
      ["kty": "RSA"], ["kty": "EC"], ["kty": "OKP"], key.with(["kty": "ec"]),
      key.with(["kty": 1]), key.with(["crv": "secp256k1"]), key.with(["crv": nil]),
      key.with(["kid": 1]), key.with(["alg": false]), key.with(["use": []]),
      key.with(["key_ops": "verify"]), key.with(["key_ops": [1]]), key.with(["x": nil]),
      key.with(["x": "AAAA"]), key.with(["y": "not base64url"]),
    ]
    let text = try CompactJWS(vector.jws)
    #expect(throws: JWSFailure.noKey) { try text.verify(with: .of(strange), algorithm: .es256) }
    #expect(try JSONWebKeySet.of(strange) == .of([]))
    try text.verify(with: .of(strange + [key]), algorithm: .es256)
  }

  /// - SeeAlso: RFC 9864, section 2.2
  @Test(arguments: ["Ed25519", "EdDSA", nil])
  func `an Ed25519 key may name its algorithm Ed25519, EdDSA or not at all`(name: String?) throws {
    let vector = try SignedVectors.one(.edDSA)
    let key = try #require(vector.key).with(["alg": name.map(JSONValue.string)])
    try CompactJWS(vector.jws).verify(with: .of([key]), algorithm: .edDSA)
    #expect(throws: JWSFailure.noKey) {
      try CompactJWS(vector.jws).verify(
        with: .of([key.with(["alg": "Ed448"])]), algorithm: .edDSA)
    }
  }

  @Test func `private members of a published key are dropped`() throws {
    let key = try #require(SignedVectors.one(.rs256).key)
    let careless = key.with(["d": "c2VjcmV0", "p": "c2VjcmV0", "x5c": ["MII"], "ext": true])
    #expect(try JSONWebKeySet.of([careless]) == .of([key]))
    var dumped = ""
    dump(try JSONWebKeySet.of([careless]), to: &dumped)
    #expect(!dumped.contains("c2VjcmV0"))
  }

  @Test func `two sets are equal if they have the same keys in any order`() throws {
    let keys = SignedVectors.signed.compactMap(\.key)
    let set = try JSONWebKeySet.of(keys)
    #expect(try set == .of(keys.reversed()))
    #expect(try set != .of(Array(keys.dropLast())))
    #expect(try set != .of([]))
    for change in ["kid", "use", "alg"] {
      let changed = keys.map { $0.with([change: "other"]) }
      #expect(try set != .of(changed), "\(change)")
    }
  }

  @Test func `many tasks can verify with one set of keys at the same time`() async throws {
    let set = try JSONWebKeySet.of(SignedVectors.signed.compactMap(\.key))
    let vectors = SignedVectors.signed.filter { $0.key != nil }
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        for vector in vectors {
          group.addTask {
            try CompactJWS(vector.jws).verify(with: set, algorithm: vector.algorithm)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
