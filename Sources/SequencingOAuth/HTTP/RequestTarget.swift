import SQBasics
package import SQFoundation

/// The parts of a request's URL, parsed so strictly that no other parser can read them differently.
///
/// Only the characters that RFC 3986 allows in each part are accepted. Forms that URL parsers are
/// known to read in different ways (a user before the host, a backslash, an encoded host) are
/// rejected.
package struct RequestTarget {
  /// The whole URL without its fragment.
  let url: String
  /// The host in lower case; an IPv6 address without its brackets.
  package let host: String
  let port: UInt16
  package let isSecure: Bool
  /// The URL as given.
  let text: String
  /// The path as it is sent, without the query; `/` if the URL has none.
  let path: String

  package init(_ url: URL) throws(SQOAuthError) {
    try self.init(text: url.absoluteString)
  }

  package init(text: String) throws(SQOAuthError) {
    self.text = text
    let bytes = text.utf8
    guard let schemeEnd = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw Self.malformed("is not absolute")
    }
    switch text[..<schemeEnd].asciiLowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: throw Self.malformed("is neither http nor https")
    }
    let rest = bytes[schemeEnd...]
    guard rest.starts(with: "://".utf8) else { throw Self.malformed("has no host") }
    let authority = rest.dropFirst(3).prefix { !Self.endsAuthority($0) }
    (host, port) = try Self.split(authority, defaultPort: isSecure ? 443 : 80)
    let end = try Self.checkedEnd(bytes[authority.endIndex...])
    let path = text[authority.endIndex..<end].prefix { $0 != "?" }
    self.path = path.isEmpty ? "/" : String(path)
    self.url = end == bytes.endIndex ? text : String(text[..<end])
  }

  /// Whether the request may use plain http.
  package var isLoopback: Bool { LoopbackHost.isAddress(host) }

  /// Whether the request must bypass every proxy.
  package var mayBeLoopback: Bool { LoopbackHost.mayBeMeant(by: host) }

  /// The host and the port for messages, as `host:port`.
  package var authority: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Creates an error without the URL, because its query may contain a secret.
  private static func malformed(_ what: String) -> SQOAuthError {
    SQOAuthError(.malformedRequest, "the URL \(what); nothing was sent")
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  private static func split(
    _ authority: Substring.UTF8View, defaultPort: UInt16
  ) throws(SQOAuthError) -> (host: String, port: UInt16) {
    if authority.contains(UInt8(ascii: "@")) {
      throw malformed("has a user name or a password; send them in a header field")
    }
    var name = authority
    var digits: Substring.UTF8View?
    let isLiteral = authority.first == UInt8(ascii: "[")
    let searched = isLiteral ? authority.drop { $0 != UInt8(ascii: "]") } : authority
    if let colon = searched.firstIndex(of: UInt8(ascii: ":")) {
      name = authority[..<colon]
      digits = authority[authority.index(after: colon)...]
    }
    let isValid =
      isLiteral
      ? name.last == UInt8(ascii: "]")
        && LoopbackHost.isIPv6(String(Substring(name.dropFirst().dropLast())))
      : !name.isEmpty && name.allSatisfy(isHostByte)
    guard isValid else { throw malformed("has no host, or a host with a forbidden character") }
    guard let port = port(digits, defaultPort) else { throw malformed("has an invalid port") }
    let host = isLiteral ? name.dropFirst().dropLast() : name
    return (String(Substring(host)).asciiLowercased(), port)
  }

  private static func port(_ digits: Substring.UTF8View?, _ defaultPort: UInt16) -> UInt16? {
    guard let digits else { return defaultPort }
    guard digits.count <= 5, digits.allSatisfy(\.isDigit) else { return nil }
    return UInt16(Substring(digits)).flatMap { $0 == 0 ? nil : $0 }
  }

  /// Checks the path and the query, and returns where they end.
  ///
  /// They end at the fragment or at the end of the text. A fragment is never sent.
  private static func checkedEnd(
    _ bytes: Substring.UTF8View
  ) throws(SQOAuthError) -> String.Index {
    var index = bytes.startIndex
    while index != bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "#") { return index }
      if byte == UInt8(ascii: "%") {
        guard
          bytes[index...].dropFirst().prefix(2).count(where: { $0.hexadecimalValue != nil }) == 2
        else {
          throw malformed("has a % without two hexadecimal digits after it")
        }
      } else if !isPathOrQueryByte(byte) {
        throw malformed("has a character that must be percent-encoded")
      }
      index = bytes.index(after: index)
    }
    return index
  }

  /// Returns whether the byte is allowed in a host name: letters, digits, `-`, `.` and `_`.
  ///
  /// DNS names use these characters, and container networks use `_`. All of them are `unreserved`
  /// in RFC 3986.
  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case _ where byte.isAlphanumeric: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// Returns whether the byte is allowed in a path or a query: `pchar` of RFC 3986, `/` and `?`,
  /// but not `%`.
  private static func isPathOrQueryByte(_ byte: UInt8) -> Bool {
    switch byte {
    case _ where byte.isAlphanumeric: true
    // ! $ & ' ( ) * + , - . / and : ; = ? @ _ ~
    case 0x21, 0x24, 0x26...0x2F, 0x3A, 0x3B, 0x3D, 0x3F, 0x40, 0x5F, 0x7E: true
    default: false
    }
  }
}

extension URL {
  /// Throws the error that the HTTP client would throw for a request to this URL.
  package func checkedForRequest() throws(SQOAuthError) {
    _ = try RequestTarget(self)
  }
}
