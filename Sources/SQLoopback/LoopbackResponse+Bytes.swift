import SQFoundation

extension LoopbackResponse {
  /// Returns the bytes of the response's head, followed by the body if `includingBody` is set.
  ///
  /// Only the server decides the framing, so the handler's `Content-Length`, `Transfer-Encoding`
  /// and `Connection` are left out. The response must be ``wellFormed``.
  func wireBytes(toHead isHead: Bool, closes: Bool, includingBody: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256 + (includingBody ? body.count : 0))
    bytes.append(contentsOf: "HTTP/1.1 ".utf8)
    bytes.append(contentsOf: String(status).utf8)
    bytes.append(ASCII.space)
    bytes.append(contentsOf: Self.reason(status).utf8)
    bytes.append(contentsOf: "\r\n".utf8)
    for field in headers where !Self.isFraming(field.name) {
      bytes.append(contentsOf: field.name.utf8)
      bytes.append(contentsOf: ": ".utf8)
      bytes.append(contentsOf: field.value.utf8)
      bytes.append(contentsOf: "\r\n".utf8)
    }
    if hasContent {
      bytes.append(contentsOf: "Content-Length: ".utf8)
      bytes.append(contentsOf: String(body.count).utf8)
      bytes.append(contentsOf: "\r\n".utf8)
    }
    bytes.append(contentsOf: (closes ? "Connection: close\r\n\r\n" : "\r\n").utf8)
    if includingBody && hasContent && !isHead { bytes.append(contentsOf: body) }
    return bytes
  }

  /// This response, or an empty 500 response if a field or the status would break the message.
  var wellFormed: LoopbackResponse {
    guard headers.allSatisfy(Self.isSafe), (200...999).contains(status) else {
      return LoopbackResponse(status: 500, closesConnection: closesConnection)
    }
    return self
  }

  /// Whether a response with this status can have content (RFC 9110, sections 15.3.5 and 15.4.5).
  var hasContent: Bool { status != 204 && status != 304 }

  private static func isSafe(_ field: (name: String, value: String)) -> Bool {
    !field.name.isEmpty && field.name.utf8.allSatisfy(ASCII.isToken)
      && !field.value.utf8.contains(where: ASCII.isControl)
  }

  private static func isFraming(_ name: String) -> Bool {
    switch name.utf8.count {
    case 10: name.lowercased() == "connection"
    case 14: name.lowercased() == "content-length"
    case 17: name.lowercased() == "transfer-encoding"
    default: false
    }
  }

  /// Creates the server's own answer to a request that it rejects, without any text of the request.
  static func refusal(_ status: Int) -> LoopbackResponse {
    LoopbackResponse(
      status: status,
      headers: [
        ("Content-Type", "text/plain"), ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
      ],
      body: Data("\(status) \(reason(status))\n".utf8), closesConnection: true)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}
