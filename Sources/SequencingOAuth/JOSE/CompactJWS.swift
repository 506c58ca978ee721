import SQBasics
import SQCrypto
import SQFoundation

/// A signed text in JWS compact serialization: a header, a payload and a signature.
///
/// Do not trust its content before `verify` has returned.
///
/// - SeeAlso: RFC 7515, section 7.1
package struct CompactJWS: Sendable {
  static let maximumSize = 128 << 10

  /// The name of the algorithm in the header (`alg`).
  let algorithmName: String
  /// The name of the key in the header (`kid`).
  let keyID: String?
  /// The type of the text in the header (`typ`).
  package let type: String?
  /// The public key in the header (`jwk`), which is used only to verify a DPoP proof.
  let ownKey: JSONValue?
  /// The decoded payload.
  let payload: Data
  /// The bytes that the signature is computed from: the header and the payload as they were sent.
  let signingInput: Data
  let signature: Data

  /// Reads a text without verifying its signature.
  ///
  /// Addresses of keys in the header are ignored.
  package init(_ text: String) throws(JWSFailure) {
    guard text.utf8.count <= Self.maximumSize else { throw .tooLong }
    let segments = Self.segments(of: text, atMost: 6)
    // RFC 7516, section 9: an encrypted text has five segments.
    guard segments.count != 5 else { throw .encrypted }
    guard segments.count == 3 else { throw .malformed("it does not have three segments") }
    let header = try Self.header(of: try Self.decode(segments[0]))
    guard let algorithmName = try Self.text("alg", of: header) else {
      throw .malformed("the header names no algorithm")
    }
    self.algorithmName = algorithmName
    keyID = try Self.text("kid", of: header)
    type = try Self.text("typ", of: header)
    ownKey = header["jwk"]
    payload = try Self.decode(segments[1])
    signature = try Self.decode(segments[2])
    signingInput = Data(text.utf8.prefix(upTo: segments[1].endIndex))
  }

  /// Returns the payload's claims.
  ///
  /// Throws if the payload is not a JSON object, or if a name occurs twice in an object at any
  /// depth.
  ///
  /// - SeeAlso: RFC 7519, section 7.2
  package func claims() throws(JWSFailure) -> [String: JSONValue] {
    try JOSEObject.members(of: payload, as: "payload")
  }

  /// Returns the unverified claims of a text whose header may be unusable; do not trust these
  /// claims.
  static func unverifiedClaims(in text: String) throws(JWSFailure) -> [String: JSONValue] {
    guard text.utf8.count <= maximumSize else { throw .tooLong }
    let segments = segments(of: text, atMost: 4)
    guard segments.count == 3 else { throw .malformed("it does not have three segments") }
    return try JOSEObject.members(of: try decode(segments[1]), as: "payload")
  }

  /// Returns the parts of a text between its dots; the last of `limit` parts may contain dots.
  ///
  /// `split` would take many times as long, because it calls a closure for each byte.
  private static func segments(of text: String, atMost limit: Int) -> [Substring.UTF8View] {
    var text = text
    let dots = text.withUTF8 { bytes in
      var dots: [Int] = []
      for (place, byte) in bytes.enumerated() where byte == UInt8(ascii: ".") {
        guard dots.count < limit - 1 else { break }
        dots.append(place)
      }
      return dots
    }
    var segments: [Substring.UTF8View] = []
    var rest = text.utf8[...]
    for dot in dots {
      let end = text.utf8.index(text.startIndex, offsetBy: dot)
      segments.append(rest[..<end])
      rest = rest[text.utf8.index(after: end)...]
    }
    return segments + [rest]
  }

  private static func decode(_ segment: Substring.UTF8View) throws(JWSFailure) -> Data {
    guard let bytes = Base64URL.decode(segment) else {
      throw .malformed("a segment has padding or is not Base64url")
    }
    return bytes
  }

  private static func header(of text: Data) throws(JWSFailure) -> [String: JSONValue] {
    let header = try JOSEObject.members(of: text, as: "header", .header)
    guard header["enc"] == nil else { throw .encrypted }
    // The SDK supports no extension, so a header that demands one is rejected. An unencoded payload
    // is an extension too. RFC 7515, section 4.1.11; RFC 7797, section 6
    guard header["crit"] == nil, header["b64"] == nil else { throw .critical }
    return header
  }

  private static func text(
    _ name: String, of header: [String: JSONValue]
  ) throws(JWSFailure) -> String? {
    guard let value = header[name], value != .null else { return nil }
    guard let text = value.string else { throw .malformed("\"\(name)\" is not a string") }
    return text
  }
}

extension CompactJWS: Redacted {
  package var description: String { "a signed text" }
}
