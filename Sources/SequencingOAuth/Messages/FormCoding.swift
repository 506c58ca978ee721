import SQBasics
import SQFoundation

/// The encoding `application/x-www-form-urlencoded`, as strict as OAuth requires.
///
/// - SeeAlso: RFC 6749, appendix B
package enum FormCoding {
  /// The name and the value of one parameter.
  package struct Pair: Sendable, Hashable, Redacted {
    package let name: String
    package let value: String
    /// Whether name and value were decoded without repairs.
    let isExact: Bool

    package init(_ name: String, _ value: String, isExact: Bool = true) {
      self.name = name
      self.value = value
      self.isExact = isExact
    }

    package var description: String { name }
  }

  /// Encodes the body of a request; a space becomes `+`.
  static func encodeBody(_ pairs: [Pair]) -> String {
    encode(pairs, space: "+")
  }

  /// Encodes the query of a URL; a space becomes `%20`, because every query decoder understands
  /// that.
  package static func encodeQuery(_ pairs: [Pair]) -> String {
    encode(pairs, space: "%20")
  }

  /// Returns the URL of a request for the browser; the endpoint's own query comes first.
  ///
  /// - SeeAlso: RFC 6749, section 3.1
  static func url(_ endpoint: URL, adding pairs: [Pair]) -> URL? {
    let endpoint = endpoint.absoluteString
    let separator = !endpoint.contains("?") ? "?" : endpoint.hasSuffix("?") ? "" : "&"
    return URL(string: endpoint + separator + encodeQuery(pairs))
  }

  /// Encodes one value for a body.
  package static func encodeValue(_ value: String) -> String {
    encode(value, space: "+")
  }

  /// Encodes an identifier or a secret for Basic credentials (RFC 6749, section 2.3.1).
  ///
  /// Every form decoder restores the value, but many servers do not decode it. For those servers,
  /// `~` and `*` are not encoded; a decoder leaves them unchanged. A space becomes `%20`, as in a
  /// URL.
  static func encodeCredential(_ value: String) -> String {
    encode(value, space: "%20", plain: "~*")
  }

  /// Percent-encodes one segment of a URL's path.
  package static func encodePathSegment(_ segment: String) -> String {
    encode(segment, space: "%20")
  }

  /// Decodes the pairs, in order.
  ///
  /// Returns `nil` if a `%` is not followed by two hexadecimal digits, or if the bytes are not
  /// UTF-8 or have more than 30 combining marks in a row.
  static func decode(_ text: some StringProtocol) -> [Pair]? {
    let pairs = mend(text)
    return pairs.allSatisfy(\.isExact) ? pairs : nil
  }

  /// Decodes the pairs, in order, and marks each pair that needed a repair.
  ///
  /// A `%` without two hexadecimal digits stays as it is, bytes that are not UTF-8 become U+FFFD,
  /// and the text is made stream-safe.
  package static func mend(_ text: some StringProtocol) -> [Pair] {
    text.utf8.split(separator: UInt8(ascii: "&")).map { part in
      let name = part.prefix { $0 != UInt8(ascii: "=") }
      let (decodedName, isNameExact) = decodeBytes(Array(name)[...])
      let (value, isValueExact) = decodeBytes(Array(part.dropFirst(name.count + 1))[...])
      return Pair(decodedName, value, isExact: isNameExact && isValueExact)
    }
  }

  private static func encode(_ pairs: [Pair], space: String) -> String {
    var result: [UInt8] = []
    for pair in pairs {
      if !result.isEmpty { result.append(UInt8(ascii: "&")) }
      append(pair.name, space: space, to: &result)
      result.append(UInt8(ascii: "="))
      append(pair.value, space: space, to: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func encode(_ value: String, space: String, plain: String = "") -> String {
    var result: [UInt8] = []
    append(value, space: space, plain: plain, to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func append(
    _ text: String, space: String, plain: String = "", to result: inout [UInt8]
  ) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        result.append(byte)
      case _ where plain.utf8.contains(byte):
        result.append(byte)
      case UInt8(ascii: " "):
        result += space.utf8
      default:
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  private static func decodeBytes(_ bytes: ArraySlice<UInt8>) -> (text: String, isExact: Bool) {
    var decoded: [UInt8] = []
    var isExact = true
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"):
        decoded.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = rest.prefix(2).compactMap(\.hexadecimalValue)
        guard digits.count == 2 else {
          isExact = false
          decoded.append(byte)
          continue
        }
        decoded.append(digits[0] << 4 | digits[1])
        rest = rest.dropFirst(2)
      default:
        decoded.append(byte)
      }
    }
    let exact = String(validating: decoded, as: UTF8.self)
    let text = exact ?? String(decoding: decoded, as: UTF8.self)
    return (text.streamSafe, isExact && exact != nil && text.isStreamSafe)
  }
}
