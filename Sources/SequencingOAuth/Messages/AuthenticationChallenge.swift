import SQBasics

/// One challenge of a `WWW-Authenticate` field: a server's request that the client authenticate.
///
/// - SeeAlso: RFC 9110, sections 11.3 and 11.6.1
struct AuthenticationChallenge: Sendable, Hashable, Redacted {
  /// The scheme as the server wrote it; compare it without regard to case.
  let scheme: String
  /// The single text that some schemes, such as Negotiate, send instead of parameters.
  var token68: String?
  /// The parameters by name, in lower case.
  var parameters: [String: String] = [:]

  /// The maximum number of fields to read, so that a server cannot keep the client busy.
  static let maximumFields = 16
  /// The maximum size of a field; a larger field is skipped, because its first part could mislead.
  static let maximumFieldBytes = 8 * 1024
  /// The maximum number of challenges to read in one field.
  static let maximumChallenges = 32
  /// The maximum number of parameters to read in one challenge.
  static let maximumParameters = 32

  /// Parses the challenges of all fields, in order.
  ///
  /// After a syntax error, the rest of the field is skipped, but the challenges before the error
  /// are returned: they may still tell why a token was refused. A challenge with a repeated
  /// parameter is left out, because neither value can be trusted (RFC 9110, section 11.2); the
  /// challenges after it are returned.
  static func challenges(in fields: [String]) -> [AuthenticationChallenge] {
    fields.prefix(maximumFields).flatMap { field in
      var parser = ChallengeParser(field)
      return parser.challenges()
    }
  }
}

/// A parser of the challenges in one field, byte by byte from left to right.
private struct ChallengeParser {
  /// A challenge that is still being read.
  private struct Draft {
    var challenge: AuthenticationChallenge
    /// Whether parameters may follow: they need a space after the scheme.
    var takesParameters: Bool
    var hasDuplicate = false
  }

  private let bytes: [UInt8]
  private var position = 0
  private var drafts: [Draft] = []

  init(_ field: String) {
    let isBounded = field.utf8.count <= AuthenticationChallenge.maximumFieldBytes
    // Line ends that the transport left in a folded field count as spaces (RFC 9110, section 5.5).
    bytes = isBounded ? field.utf8.map { [0x00, 0x0A, 0x0D].contains($0) ? 0x20 : $0 } : []
  }

  mutating func challenges() -> [AuthenticationChallenge] {
    repeat {
      // Empty list elements are allowed (RFC 9110, section 5.6.1).
      while skipSpace() || skip(",") {}
    } while position < bytes.count && readElement() && endElement()
    return drafts.filter { !$0.hasDuplicate }.map(\.challenge)
  }

  /// Reads up to the next comma: a scheme and its content, or a parameter of the last challenge.
  private mutating func readElement() -> Bool {
    let start = position
    guard let name = readToken() else { return false }
    let hasSpace = skipSpace()
    if peek == UInt8(ascii: "=") {
      position = start
      return readParameter()
    }
    guard drafts.count < AuthenticationChallenge.maximumChallenges else { return false }
    drafts.append(
      Draft(challenge: AuthenticationChallenge(scheme: name), takesParameters: hasSpace))
    guard hasSpace, let next = peek, next != UInt8(ascii: ",") else { return true }
    if let token68 = readToken68() {
      drafts[drafts.count - 1].challenge.token68 = token68
      drafts[drafts.count - 1].takesParameters = false
      return true
    }
    return readParameter()
  }

  /// Reads `name = value`, with white space around the `=` (RFC 9110, section 11.2).
  private mutating func readParameter() -> Bool {
    guard let last = drafts.indices.last, drafts[last].takesParameters,
      let name = readToken()?.asciiLowercased()
    else { return false }
    skipSpace()
    guard skip("=") else { return false }
    skipSpace()
    guard let value = readQuotedString() ?? readWholeToken(),
      drafts[last].challenge.parameters.count < AuthenticationChallenge.maximumParameters
    else { return false }
    if drafts[last].challenge.parameters.updateValue(value, forKey: name) != nil {
      drafts[last].hasDuplicate = true
    }
    return true
  }

  /// Skips spaces, and returns whether the element ends here: at a comma or the end of the field.
  private mutating func endElement() -> Bool {
    skipSpace()
    return peek == nil || peek == UInt8(ascii: ",")
  }

  private mutating func readToken() -> String? {
    let token = bytes[position...].prefix(while: \.isFieldTokenByte)
    position = token.endIndex
    return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
  }

  /// Reads a token; returns `nil` if other characters follow it, as in a URL without quotes.
  private mutating func readWholeToken() -> String? {
    guard let token = readToken() else { return nil }
    return peek.map([0x20, 0x09, UInt8(ascii: ",")].contains) ?? true ? token : nil
  }

  /// Reads a token68 if it fills the whole element; the parameter `a=b` is not a token68.
  private mutating func readToken68() -> String? {
    let start = position
    let text = bytes[start...].prefix(while: Self.isToken68Byte)
    position = text.endIndex
    while skip("=") {}
    let found = bytes[start..<position]
    guard !text.isEmpty, endElement() else {
      position = start
      return nil
    }
    return String(decoding: found, as: UTF8.self)
  }

  /// Reads a quoted string.
  ///
  /// Returns `nil` if no quoted string begins here, or it has no end or contains a control
  /// character.
  private mutating func readQuotedString() -> String? {
    let start = position
    guard skip("\"") else { return nil }
    var text: [UInt8] = []
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        return String(streamSafe: text)
      case UInt8(ascii: "\\"):
        guard let escaped = peek, Self.isText(escaped) else { break }
        position += 1
        text.append(escaped)
        continue
      case _ where Self.isText(byte):
        text.append(byte)
        continue
      default:
        break
      }
      break
    }
    position = start
    return nil
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = peek, UInt32(byte) == character.value else { return false }
    position += 1
    return true
  }

  @discardableResult
  private mutating func skipSpace() -> Bool {
    let start = position
    while peek == 0x20 || peek == 0x09 { position += 1 }
    return position > start
  }

  /// Returns whether a token68 may contain the byte before its padding (RFC 9110, section 11.2).
  private static func isToken68Byte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "-._~+/".utf8.contains(byte)
  }

  /// Returns whether a quoted string may contain the byte, apart from its delimiters (RFC 9110,
  /// section 5.6.4).
  private static func isText(_ byte: UInt8) -> Bool {
    byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
  }
}
