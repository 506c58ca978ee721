import SQCrypto
import SQFoundation

/// A reader of public keys in PEM, for the sandbox's client.
///
/// - SeeAlso: RFC 7468, section 13; RFC 5280, section 4.1.2.7 (SubjectPublicKeyInfo)
enum PublicKeyPEM {
  private static let begin = "-----BEGIN PUBLIC KEY-----"
  private static let end = "-----END PUBLIC KEY-----"

  /// Returns whether the text is a public key in PEM.
  static func isHere(_ text: String) -> Bool {
    text.contains(begin) && !text.contains("PRIVATE KEY-----")
  }

  /// Returns the members of the key as a JSON Web Key, or `nil` if the text is no complete RSA, EC
  /// or Ed25519 key.
  ///
  /// It does not check the numbers.
  static func members(_ text: String) -> [String: String]? {
    guard let start = text.firstRange(of: begin), let stop = text.firstRange(of: end),
      start.upperBound <= stop.lowerBound,
      let bytes = Data(
        base64Encoded: text[start.upperBound..<stop.lowerBound].filter { !$0.isWhitespace })
    else { return nil }
    var whole = DERReader(bytes)
    guard var info = whole.sequence(), whole.isAtEnd, var algorithm = info.sequence(),
      let name = algorithm.value(.objectIdentifier), let key = info.bits(), info.isAtEnd
    else { return nil }
    switch name {
    case rsa: return rsaMembers(key)
    case ellipticCurve:
      return algorithm.value(.objectIdentifier).flatMap { pointMembers(key, on: $0) }
    case ed25519: return ["kty": "OKP", "crv": "Ed25519", "x": Base64URL.encode(Data(key))]
    default: return nil
    }
  }

  /// Returns the members of an RSA key.
  ///
  /// - SeeAlso: RFC 8017, appendix A.1.1; RFC 7518, section 6.3.1
  private static func rsaMembers(_ key: [UInt8]) -> [String: String]? {
    var whole = DERReader(Data(key))
    guard var numbers = whole.sequence(), let modulus = numbers.value(.integer),
      let exponent = numbers.value(.integer)
    else { return nil }
    func text(_ number: [UInt8]) -> String { Base64URL.encode(Data(number.drop { $0 == 0 })) }
    return ["kty": "RSA", "n": text(modulus), "e": text(exponent)]
  }

  /// Returns the members of a point in its uncompressed form.
  ///
  /// - SeeAlso: RFC 5480, section 2.2; RFC 7518, section 6.2.1
  private static func pointMembers(_ point: [UInt8], on curve: [UInt8]) -> [String: String]? {
    guard let curve = curves.first(where: { $0.identifier == curve }), point.first == 4,
      point.count == 1 + 2 * curve.size
    else { return nil }
    let numbers = point.dropFirst()
    return [
      "kty": "EC", "crv": curve.name, "x": Base64URL.encode(Data(numbers.prefix(curve.size))),
      "y": Base64URL.encode(Data(numbers.suffix(curve.size))),
    ]
  }

  // The object identifiers of RFC 8017, RFC 5480 and RFC 8410, as DER encodes them.
  private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  private static let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
  private static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
  private static let curves: [(identifier: [UInt8], name: String, size: Int)] = [
    ([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], "P-256", 32),
    ([0x2B, 0x81, 0x04, 0x00, 0x22], "P-384", 48), ([0x2B, 0x81, 0x04, 0x00, 0x23], "P-521", 66),
  ]
}

/// A reader of values in DER, each with a tag and a length.
///
/// - SeeAlso: ITU-T X.690, section 10.1
private struct DERReader {
  enum Tag: UInt8 {
    case integer = 0x02
    case bitString = 0x03
    case objectIdentifier = 0x06
    case sequence = 0x30
  }

  private var rest: ArraySlice<UInt8>

  init(_ data: Data) { rest = Array(data)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// Reads a value, or returns `nil` if the next one has another tag or is cut off.
  mutating func value(_ tag: Tag) -> [UInt8]? {
    guard rest.popFirst() == tag.rawValue, let length = length(), length <= rest.count else {
      return nil
    }
    defer { rest = rest.dropFirst(length) }
    return Array(rest.prefix(length))
  }

  mutating func sequence() -> DERReader? { value(.sequence).map { DERReader(Data($0)) } }

  /// Reads a string of whole bytes.
  mutating func bits() -> [UInt8]? {
    guard let value = value(.bitString), value.first == 0 else { return nil }
    return Array(value.dropFirst())
  }

  private mutating func length() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    guard first >= 0x80 else { return Int(first) }
    // No key needs a length of more than two bytes.
    let count = Int(first & 0x7F)
    guard (1...2).contains(count), rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
  }
}
