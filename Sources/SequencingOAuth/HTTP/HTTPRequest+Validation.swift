extension HTTPRequest {
  /// Refuses what cannot be put on the wire unchanged: a method or a field that would break out of
  /// its line, or one that would contradict the framing that the client adds.
  func validate() throws(SQOAuthError) {
    guard method.isFieldToken else {
      throw Self.malformed("the request's method is not a token")
    }
    if method == "CONNECT" { throw Self.malformed("CONNECT is not for a request to a server") }
    if method == "HEAD", !body.isEmpty { throw Self.malformed("a HEAD request has no body") }
    var hosts = 0
    for field in headers {
      if let flaw = field.flaw { throw Self.malformed(flaw) }
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
