import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth

/// A proof that a client sent, read as a server reads it.
///
/// - SeeAlso: RFC 9449, section 4.3
struct SentProof: Sendable {
  let claims: [String: JSONValue]
  let algorithm: JWSAlgorithm
  /// The thumbprint of the key in the proof (RFC 7638).
  let thumbprint: String

  /// Reads the only proof of a request; `nil` if the request has none.
  init?(_ request: WebRequest) throws {
    let values = request.headers.values(for: "DPoP")
    guard let text = values.first else { return nil }
    #expect(values.count == 1)
    try self.init(text)
    #expect(self["htm"] == request.method)
    #expect(!(self["htu"] ?? "").contains { $0 == "?" || $0 == "#" })
  }

  /// Reads a proof, and verifies its signature with the key in its header.
  init(_ text: String) throws {
    let header = try Self.header(of: text)
    #expect(Set(header.keys) == ["alg", "jwk", "typ"] && header["typ"] == "dpop+jwt")
    let algorithm = try #require(header["alg"]?.string.flatMap(JWSAlgorithm.init(named:)))
    let key = try #require(header["jwk"])
    guard case .object(let members) = key else {
      throw JWSFailure.malformed("the key is no object")
    }
    #expect(members.keys.allSatisfy { ["kty", "crv", "x", "y", "n", "e"].contains($0) })
    let signed = try CompactJWS(text)
    try signed.verify(with: .of([key]), algorithm: algorithm)
    claims = try signed.claims()
    self.algorithm = algorithm
    thumbprint = JWKThumbprint.of(members.compactMapValues(\.string))
  }

  private static func header(of text: String) throws -> [String: JSONValue] {
    let first = try #require(text.split(separator: ".").first)
    return try JSONMessage.members(
      of: try #require(Base64URL.decode(String(first))), as: "proof's header")
  }

  /// Returns the value of a claim; `nil` if it is not a string or is missing.
  subscript(name: String) -> String? { claims[name]?.string }
  /// The unique name of the proof.
  var id: String? { self["jti"] }
  var nonce: String? { self["nonce"] }
  /// The digest of the access token.
  var tokenDigest: String? { self["ath"] }
  var time: Int64? { if case .integer(let time)? = claims["iat"] { time } else { nil } }
}
