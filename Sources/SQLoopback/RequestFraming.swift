import SQBasics

/// How the body of a request is delimited (RFC 9112, section 6.3).
enum RequestFraming: Hashable {
  case length(Int)
  case chunked

  /// Reads the framing from the fields; throws if two parsers could understand it differently.
  init(_ head: RequestHead) throws(RequestFault) {
    let encodings = head.values(of: "transfer-encoding")
    let lengths = head.values(of: "content-length")
    if !encodings.isEmpty {
      // RFC 9112, section 6.1: `Transfer-Encoding` with `Content-Length` or in HTTP/1.0 may be an
      // attempt to smuggle a request.
      guard lengths.isEmpty, head.minorVersion >= 1, encodings.count == 1 else {
        throw .badRequest
      }
      try Self.checkCoding(encodings[0])
      self = .chunked
      return
    }
    guard lengths.count <= 1 else { throw .badRequest }
    guard let text = lengths.first else {
      self = .length(0)
      return
    }
    self = .length(try Self.length(text))
  }

  /// Accepts only `chunked`, because the server supports no other coding.
  private static func checkCoding(_ value: String) throws(RequestFault) {
    let codings = value.lowercased().split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmed
    }
    let chunked = codings.filter { $0 == "chunked" }.count
    guard !codings.contains(""), chunked <= 1, chunked == 0 || codings.last == "chunked" else {
      throw .badRequest
    }
    guard codings == ["chunked"] else { throw .notImplemented }
  }

  /// Reads a length of digits only: no sign, no list, no white space.
  private static func length(_ text: String) throws(RequestFault) -> Int {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { throw .badRequest }
    guard let length = Int(text) else { throw .contentTooLarge }
    return length
  }
}

extension RequestHead {
  /// Checks that `Host` occurs once and has the syntax of an authority (RFC 9112, section 3.2).
  ///
  /// An HTTP/1.0 request may omit the field.
  func checkHost() throws(RequestFault) {
    let hosts = values(of: "host")
    guard hosts.count == 1 || (hosts.isEmpty && minorVersion == 0) else { throw .badRequest }
    guard hosts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isAuthority) }) else {
      throw .badRequest
    }
  }

  /// Returns whether the client waits for `100 Continue`; throws for any other expectation.
  func expectsContinue() throws(RequestFault) -> Bool {
    let expectations = values(of: "expect")
    guard minorVersion >= 1, !expectations.isEmpty else { return false }
    guard expectations.count == 1, expectations[0].lowercased() == "100-continue" else {
      throw .expectationFailed
    }
    return true
  }

  /// Whether another request may follow on the connection.
  var keepsAlive: Bool {
    guard minorVersion >= 1 else { return false }
    for value in values(of: "connection") {
      for option in value.split(separator: ",")
      where option.trimmed.lowercased() == "close" {
        return false
      }
    }
    return true
  }
}
