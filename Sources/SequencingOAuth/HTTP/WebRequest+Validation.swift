import SQBasics

extension WebRequest {
  /// Throws if the request cannot be sent unchanged.
  ///
  /// It refuses a method or a field with a character that could end its line early, and a field
  /// that could contradict the framing that the client adds.
  func validate() throws(SQOAuthError) {
    guard method.isFieldToken else {
      throw Self.malformed("the request's method is empty or has a forbidden character")
    }
    if method == "CONNECT" { throw Self.malformed("the method CONNECT is only for proxies") }
    if method == "HEAD", !body.isEmpty { throw Self.malformed("a HEAD request has no body") }
    var hosts = 0
    for field in headers {
      if let flaw = field.flaw { throw Self.malformed(flaw) }
      switch field.name.utf8.count {
      case 4 where field.name.asciiLowercased() == "host": hosts += 1
      case 14, 17:
        // With two different lengths in one request, an attacker could smuggle in a second request.
        let name = field.name.asciiLowercased()
        if name == "content-length" || name == "transfer-encoding" {
          throw Self.malformed(
            "the HTTP client sets \(field.name) from the body, so the request must not set it")
        }
      default: break
      }
    }
    if hosts > 1 { throw Self.malformed("the request has more than one Host field") }
    if case .stream(let length?, _) = body, length < 0 {
      throw Self.malformed("the length of the body is negative")
    }
    try checkNotConsumed()
  }

  private static func malformed(_ what: String) -> SQOAuthError {
    SQOAuthError(.malformedRequest, "\(what); nothing was sent")
  }

  /// Whether sending the request twice has the same effect as sending it once.
  ///
  /// - SeeAlso: RFC 9110, section 9.2.2
  package var isIdempotent: Bool { Self.isIdempotent(method) }

  /// Returns whether a method is idempotent, so that a transport may send a request twice.
  static func isIdempotent(_ method: String) -> Bool {
    switch method {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}

extension WebRequestBody {
  package var isEmpty: Bool {
    if case .empty = self { true } else { false }
  }
}
