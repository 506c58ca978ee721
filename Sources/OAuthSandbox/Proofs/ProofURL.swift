import SQBasics
import SQFoundation

/// An address from a proof or of a request, without query and fragment, normalized for comparison.
///
/// - SeeAlso: RFC 9449, section 4.3; RFC 3986, sections 6.2.2 and 6.2.3
struct ProofURL: Equatable {
  private let scheme: String
  private let host: String
  private let port: Int?
  private let path: String

  private static let defaultPorts = ["http": 80, "https": 443]

  /// Reads an absolute `http` or `https` URL, and fails for any other text.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
      let parts = URLComponents(string: text, encodingInvalidCharacters: false),
      let scheme = parts.scheme?.lowercased(), let known = Self.defaultPorts[scheme],
      let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty, parts.user == nil
    else { return nil }
    self.scheme = scheme
    self.host = host
    port = parts.port == known ? nil : parts.port
    path = Self.normalized(parts.percentEncodedPath)
  }

  /// Returns a path without dot segments and needless escapes.
  private static func normalized(_ path: String) -> String {
    var segments: [Substring] = []
    let parts = unescapingUnreserved(path).split(separator: "/", omittingEmptySubsequences: false)
    for (index, part) in parts.dropFirst().enumerated() {
      let isLast = index == parts.count - 2
      switch part {
      case ".": if isLast { segments.append("") }
      case "..":
        _ = segments.popLast()
        if isLast { segments.append("") }
      default: segments.append(part)
      }
    }
    return "/" + segments.joined(separator: "/")
  }

  /// Decodes the escapes of unreserved characters, and writes all other escapes in upper case.
  private static func unescapingUnreserved(_ path: String) -> String {
    let parts = path.split(separator: "%", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(into: String(parts.first ?? "")) { result, part in
      let digits = part.prefix(2)
      if let byte = UInt8(digits, radix: 16), byte.isUnreserved {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "%" + digits.uppercased()
      }
      result += part.dropFirst(2)
    }
  }
}
