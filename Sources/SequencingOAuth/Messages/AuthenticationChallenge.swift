import Basics

/// One challenge of a `WWW-Authenticate` field: how a server wants to be asked.
///
/// - SeeAlso: RFC 9110, sections 11.3 and 11.6.1
struct AuthenticationChallenge: Sendable, Hashable, Redacted {
  /// The scheme as it was written; it compares without case.
  let scheme: String
  /// Credentials-like text in place of parameters, as Negotiate sends it.
  var token68: String?
  /// The parameters by their names in lower case.
  var parameters: [String: String] = [:]

  /// The most that is read: a server can make a client read no more than this.
  static let maximumFields = 16
  /// A longer field is passed over, since a part of it could say something else than the whole.
  static let maximumFieldBytes = 8 * 1024
  /// Challenges in one field.
  static let maximumChallenges = 32
  /// Parameters of one challenge.
  static let maximumParameters = 32

  /// The challenges of all fields, in order.
  ///
  /// A fault ends its field: what stood before it counts, for a half-broken field still tells why
  /// a token was refused. A challenge with a parameter that comes twice is left out, as none of
  /// the two can be believed (RFC 9110, section 11.2); those behind it count.
  static func challenges(in fields: [String]) -> [AuthenticationChallenge] {
    fields.prefix(maximumFields).flatMap { field in
      var parser = ChallengeParser(field)
      return parser.challenges()
    }
  }
}

/// Reads one field; it walks over the bytes once, from left to right.
private struct ChallengeParser {
  /// A challenge under way.
  private struct Draft {
    var challenge: AuthenticationChallenge
    /// Without a space behind the scheme there are no parameters.
    var takesParameters: Bool
    var hasDuplicate = false
  }

  private let bytes: [UInt8]
  private var position = 0
  private var drafts: [Draft] = []

  init(_ field: String) {
    let isBounded = field.utf8.count <= AuthenticationChallenge.maximumFieldBytes
    // A line that a client's transport did not unfold; RFC 9110, section 5.5, makes it spaces.
    bytes = isBounded ? field.utf8.map { [0x00, 0x0A, 0x0D].contains($0) ? 0x20 : $0 } : []
  }

  mutating func challenges() -> [AuthenticationChallenge] {
    repeat {
      // Empty list elements are allowed (RFC 9110, section 5.6.1).
      while skipSpace() || skip(",") {}
    } while position < bytes.count && readElement() && endElement()
    return drafts.filter { !$0.hasDuplicate }.map(\.challenge)
  }

  /// A scheme with what follows it up to a comma, or one more parameter of the last challenge.
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

  /// `name = value`, with the white space that RFC 9110, section 11.2, puts up with.
  private mutating func readParameter() -> Bool {
    guard let last = drafts.indices.last, drafts[last].takesParameters,
      let name = readToken()?.lowercased()
    else { return false }
    skipSpace()
    guard skip("=") else { return false }
    skipSpace()
    guard let value = readQuotedString() ?? readToken(),
      drafts[last].challenge.parameters.count < AuthenticationChallenge.maximumParameters
    else { return false }
    if drafts[last].challenge.parameters.updateValue(value, forKey: name) != nil {
      drafts[last].hasDuplicate = true
    }
    return true
  }

  /// Whether a comma or the end follows.
  private mutating func endElement() -> Bool {
    skipSpace()
    return peek == nil || peek == UInt8(ascii: ",")
  }

  private mutating func readToken() -> String? {
    let token = bytes[position...].prefix(while: Self.isTokenByte)
    position = token.endIndex
    return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
  }

  /// Only if it is all that stands before the comma: `a=b` begins like one.
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

  /// `nil` where none begins here, it does not end, or a control character stands in it.
  private mutating func readQuotedString() -> String? {
    let start = position
    guard skip("\"") else { return nil }
    var text: [UInt8] = []
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        return String(decoding: text, as: UTF8.self)
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

  /// RFC 9110, section 5.6.2.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// RFC 9110, section 11.2.
  private static func isToken68Byte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "-._~+/".utf8.contains(byte)
  }

  /// What may stand in a quoted string, beside its delimiters (RFC 9110, section 5.6.4).
  private static func isText(_ byte: UInt8) -> Bool {
    byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
  }
}
