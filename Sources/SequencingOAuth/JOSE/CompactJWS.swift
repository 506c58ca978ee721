import SQBasics
import SQCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A signed text in compact serialization: a header, a payload and a signature.
///
/// Do not trust its content before `verify` has returned.
///
/// - SeeAlso: RFC 7515, section 7.1
package struct CompactJWS: Sendable {
  static let maximumSize = 128 << 10

  /// The algorithm that the header names.
  let algorithmName: String
  /// The key that the header names.
  let keyID: String?
  /// The type of the text that the header names.
  let type: String?
  /// The signed bytes.
  let payload: Data
  /// What the signature is made of: the header and the payload as they were sent.
  let signingInput: Data
  let signature: Data

  /// Reads a text and does not verify its signature.
  ///
  /// Keys in the header, and addresses of keys, are ignored.
  package init(_ text: String) throws(JWSFailure) {
    guard text.utf8.count <= Self.maximumSize else { throw .tooLong }
    let segments = text.utf8.split(
      separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
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
    payload = try Self.decode(segments[1])
    signature = try Self.decode(segments[2])
    signingInput = Data(text.utf8.prefix(upTo: segments[1].endIndex))
  }

  /// The payload's claims: a JSON object, in which no name occurs twice at any depth.
  ///
  /// - SeeAlso: RFC 7519, section 7.2
  package func claims() throws(JWSFailure) -> [String: JSONValue] {
    try JOSEObject.members(of: payload, as: "payload")
  }

  private static func decode(_ segment: Substring.UTF8View) throws(JWSFailure) -> Data {
    guard let bytes = Base64URL.decode(segment) else {
      throw .malformed("a segment is not Base64url without padding")
    }
    return bytes
  }

  private static func header(of text: Data) throws(JWSFailure) -> [String: JSONValue] {
    let header = try JOSEObject.members(of: text, as: "header", .header)
    guard header["enc"] == nil else { throw .encrypted }
    // The SDK knows no extension: none may be demanded, and an unencoded payload is one.
    // RFC 7515, section 4.1.11; RFC 7797, section 6
    guard header["crit"] == nil, header["b64"] == nil else { throw .critical }
    return header
  }

  private static func text(
    _ name: String, of header: [String: JSONValue]
  ) throws(JWSFailure) -> String? {
    guard let value = header[name], value != .null else { return nil }
    guard let text = value.string else { throw .malformed("\"\(name)\" is no text") }
    return text
  }
}

extension CompactJWS: Redacted {
  package var description: String { "a signed text" }
}
