import Foundation
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

@Suite(.timeLimit(.minutes(2))) struct SignedTextTests {
  @Test func `every algorithm is tested with a text that another program signed`() {
    #expect(SignedVectors.signed.count == 23)
    #expect(Set(SignedVectors.signed.map(\.algorithm)) == Set(JWSAlgorithm.allCases))
  }

  @Test(arguments: SignedVectors.signed)
  func `a text is verified with its own algorithm only`(
    vector: SignedVectors.Vector
  ) throws {
    try vector.verify()
    for other in JWSAlgorithm.allCases where other != vector.algorithm {
      #expect(throws: JWSFailure.algorithm(found: vector.algorithm.rawValue)) {
        try vector.verify(as: other)
      }
    }
  }

  @Test(arguments: [JWSAlgorithm.rs256, .ps256, .es256, .edDSA, .hs256])
  func `a flipped bit of the signature or the payload is noticed`(
    algorithm: JWSAlgorithm
  ) throws {
    let vector = try SignedVectors.one(algorithm)
    let segments = vector.jws.split(separator: ".").map(String.init)
    for (index, limit) in [(1, 300), (2, 2048)] {
      let bytes = try #require(Base64URL.decode(segments[index]))
      for bit in 0..<min(bytes.count * 8, limit) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << (bit % 8)
        var changed = segments
        changed[index] = Base64URL.encode(flipped)
        #expect(throws: JWSFailure.badSignature, "bit \(bit) of segment \(index)") {
          try vector.verify(changed.joined(separator: "."))
        }
      }
    }
  }

  @Test(arguments: JWSAlgorithm.allCases)
  func `a signature of a wrong length is rejected`(algorithm: JWSAlgorithm) throws {
    let vector = try SignedVectors.one(algorithm)
    let segments = vector.jws.split(separator: ".").map(String.init)
    let signature = try #require(Base64URL.decode(segments[2]))
    let others = [Data(), signature.dropLast(), signature + [0], [0] + signature, Data([0])]
    for other in others {
      let text = segments[0] + "." + segments[1] + "." + Base64URL.encode(other)
      #expect(throws: JWSFailure.badSignature) { try vector.verify(text) }
    }
  }

  @Test func `the claims of a signed text are read from its payload`() throws {
    let claims = try CompactJWS(SignedVectors.one(.rs256).jws).claims()
    #expect(claims["sub"].string == "248289761001")
    #expect(claims["exp"].integer == 1_311_281_970)
    #expect(claims["amr"].array == ["pwd", "otp"])
    #expect(claims["address"]["locality"].string == "Zürich")
  }

  /// - SeeAlso: RFC 7515, appendix A.5
  @Test func `an unsigned text is rejected, with any expected algorithm`() throws {
    let text = try CompactJWS(
      "eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlL"
        + "mNvbS9pc19yb290Ijp0cnVlfQ.")
    #expect(text.algorithmName == "none")
    let keys = try JSONWebKeySet.of(SignedVectors.signed.compactMap(\.key))
    for algorithm in JWSAlgorithm.allCases {
      #expect(throws: JWSFailure.algorithm(found: "none")) {
        try text.verify(with: keys, algorithm: algorithm)
      }
      #expect(throws: JWSFailure.algorithm(found: "none")) {
        try text.verify(secret: SecretlySigned.secret, algorithm: algorithm)
      }
    }
    #expect(JWSAlgorithm(rawValue: "none") == nil)
  }

  @Test(arguments: ["NONE", "None", "nOnE", "rs256", "RS256 ", ""])
  func `a misspelt algorithm name in the header matches no algorithm`(name: String) throws {
    let text = try CompactJWS(SecretlySigned.text(header: #"{"alg":"\#(name)"}"#))
    for algorithm in JWSAlgorithm.allCases {
      #expect(throws: JWSFailure.algorithm(found: name)) {
        try text.verify(secret: SecretlySigned.secret, algorithm: algorithm)
      }
    }
  }
}
