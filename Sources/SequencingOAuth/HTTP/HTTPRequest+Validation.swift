import Basics

extension HTTPRequest {
  /// Refuses what cannot be put on the wire unchanged: a method or a field that would break out of
  /// its line, or one that would contradict the framing that the client adds.
  func validate() throws(SQOAuthError) {
    guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else {
      throw Self.malformed("the request's method is not a token")
    }
    if method == "CONNECT" { throw Self.malformed("CONNECT is not for a request to a server") }
    if method == "HEAD", !body.isEmpty { throw Self.malformed("a HEAD request has no body") }
    var hosts = 0
    for field in headers {
      guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenByte) else {
        throw Self.malformed("the name of a header field is not a token")
      }
      // The name is a token, so it may be shown; the value never is.
      guard field.value.utf8.allSatisfy(Self.isValueByte) else {
        throw Self.malformed("the value of \(field.name) has a byte that is not visible ASCII")
      }
      switch field.name.utf8.count {
      case 4 where field.name.lowercased() == "host": hosts += 1
      case 14, 17:
        // A second opinion on the length is how requests are smuggled.
        let name = field.name.lowercased()
        if name == "content-length" || name == "transfer-encoding" {
          throw Self.malformed("\(field.name) is set by the client, from the body")
        }
      default: break
      }
    }
    if hosts > 1 { throw Self.malformed("Host is given twice") }
    if case .stream(let length?, _) = body, length < 0 {
      throw Self.malformed("the length of the body is negative")
    }
    try checkNotSpent()
  }

  private static func malformed(_ what: String) -> SQOAuthError {
    SQOAuthError(.malformedRequest, "\(what); nothing was sent")
  }

  /// RFC 9110, section 5.6.2.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case _ where byte.isAlphanumeric: true
    // ! # $ % & ' * + - . and ^ _ ` | ~
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }

  /// RFC 9110, section 5.5, without the bytes above ASCII, which receivers read differently.
  private static func isValueByte(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) || byte == 0x09
  }

  /// Whether sending this method twice is the same as sending it once (RFC 9110, section 9.2.2).
  var isIdempotent: Bool {
    switch method {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}

extension HTTPRequestBody {
  var isEmpty: Bool {
    if case .empty = self { true } else { false }
  }
}
