import FoundationEssentials
import Testing

@testable import OAuthSandbox

@Suite struct ProofValueTests {
  /// RFC 9449, section 4.1.
  private static let example =
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklD"
    + "UkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R"
    + "1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzO"
    + "i8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiM"
    + "LvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"

  @Test func `the DPoP proof in RFC 9449 is read and its signature is valid`() throws {
    let proof = try #require(SandboxProof(Self.example))
    #expect(proof.type == "dpop+jwt" && proof.algorithm == "ES256")
    #expect(proof.id == "-BwC3ESc6acc2lTc" && proof.method == "POST")
    #expect(proof.url == "https://server.example.com/token" && proof.issued == 1_562_262_616)
    #expect(proof.nonce == nil && proof.accessTokenHash == nil)
    let key = try ProofKey(proof.jwt.header["jwk"], .es256)
    #expect(key.hasSigned(proof.jwt))
    // RFC 9449, section 6.1.
    #expect(key.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    #expect(proof.keyThumbprint == key.thumbprint)
    let damaged = try #require(
      SandboxProof(Self.example.replacing(".eyJqdGkiOiItQ", with: ".eyJqdGkiOiItR")))
    #expect(!key.hasSigned(damaged.jwt))
  }

  @Test func `a JWK thumbprint is computed from the required members only`() {
    // RFC 7638, section 3.1.
    let modulus =
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZ"
      + "CiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJ"
      + "ZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBn"
      + "iIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    let key: SandboxJSON = [
      "kty": "RSA", "n": .string(modulus), "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
    ]
    #expect(ProofKey.thumbprint(of: key) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    #expect(ProofKey.thumbprint(of: ["kty": "RSA", "n": "AQAB"]) == nil)
    #expect(ProofKey.thumbprint(of: ["kty": "oct", "k": "AQAB"]) == nil)
  }

  @Test func `the hash of an access token equals the example in RFC 9449`() {
    // RFC 9449, section 7.1.
    #expect(
      Crypto.digest(of: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
        == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
  }

  @Test(arguments: [
    "HTTPS://Server.example:443/a/b", "https://server.example/a/./b?x=1",
    "https://server.example/%61/b#c",
    "https://server.example/c/../a/b",
  ])
  func `spellings of one address are equal`(text: String) throws {
    let url: ProofURL = try #require(ProofURL(text))
    #expect(url == ProofURL("https://server.example/a/b"))
  }

  @Test(arguments: [
    "http://server.example/a/b", "https://server.example:8443/a/b", "https://server.example/a/b/",
    "https://server.example/A/b", "https://other.example/a/b", "https://server.example/a%2Fb",
    "https://server.example/",
  ])
  func `different addresses are not equal`(text: String) throws {
    let url: ProofURL = try #require(ProofURL(text))
    #expect(url != ProofURL("https://server.example/a/b"))
  }

  @Test(arguments: [
    "", "/a/b", "ftp://server.example/a", "https://", "https://user@server.example/a",
    "https://server.example/a b", "https://[/",
  ])
  func `a text that is not an http or https URL with a host and no user is refused`(text: String) {
    #expect(ProofURL(text) == nil)
  }

  @Test func `an empty path is the root, and escapes are compared in upper case`() {
    #expect(ProofURL("https://a.example") == ProofURL("https://a.example/"))
    #expect(ProofURL("https://a.example/%c3%a9") == ProofURL("https://a.example/%C3%A9"))
  }

  @Test func `used proof identifiers are remembered until they expire, in bounded memory`() {
    var used = UsedIdentifiers()
    var fresh = [
      used.note("a", until: 10, now: 0), used.note("a", until: 20, now: 10),
      used.note("a", until: 20, now: 11),
    ]
    #expect(fresh == [true, false, true])
    for number in 0..<(3 * UsedIdentifiers.most) {
      fresh.append(used.note("n\(number)", until: 20, now: 11))
      #expect(used.count <= UsedIdentifiers.most)
    }
    #expect(fresh.filter { !$0 }.count == 1)
    let last = used.note("n\(3 * UsedIdentifiers.most - 1)", until: 20, now: 11)
    #expect(!last)
  }
}
