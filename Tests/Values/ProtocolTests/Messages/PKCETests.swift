import Testing

@testable import SQBasics
@testable import SequencingOAuth

@Suite struct PKCETests {
  @Test(arguments: [
    // RFC 7636, appendix B.
    (
      "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    ),
    // OAuth 2.1 draft, section 4.1.1.
    (
      "3641a2d12d66101249cdf7a79c000c1f8c05d2aafcf14bf146497bed",
      "6fdkQaPm51l13DSukcAH3Mdx7_ntecHYd1vi3n0hMZY"
    ),
  ])
  func `a published verifier gives the published challenge`(verifier: String, challenge: String) {
    #expect(PKCE(verifier: verifier).challenge == challenge)
  }

  @Test func `the only method is S256`() {
    #expect(PKCE.method == "S256")
  }

  @Test func `a verifier has 43 to 128 unreserved characters and is always new`() {
    let verifiers = (0..<1_000).map { _ in PKCE().verifier }
    #expect(Set(verifiers).count == 1_000)
    for verifier in verifiers {
      #expect((43...128).contains(verifier.utf8.count))
      #expect(verifier.utf8.allSatisfy(isUnreserved))
    }
  }
}

/// Returns whether RFC 3986, section 2.3, calls the byte unreserved.
func isUnreserved(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: "-._~".utf8.contains(byte)
  }
}
