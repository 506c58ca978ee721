import SQBasics
package import SQFoundation
package import SQLoopback

/// The answer of a loopback server.
package struct LoopbackAnswer: Sendable, Redacted {
  package let status: Int
  /// The header fields in order, with their names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: Data

  /// Returns the value of the first header field with this name.
  package func header(_ name: String) -> String? {
    headers.first { $0.name == name.lowercased() }?.value
  }
}

/// An HTTP client that sends one request per connection, without redirects or cookies.
///
/// It acts as the user's browser, and tests use it. It understands bodies with a length, those in
/// chunks, and those that last until the end of the stream.
package enum LoopbackClient {
  /// Sends a request and returns the whole answer.
  ///
  /// - Throws: `LoopbackError.malformedAnswer` if the bytes are not a valid answer, and
  ///   `LoopbackError.system(errno:)` if the connection fails or the answer takes longer than
  ///   `limit`.
  package static func send(
    _ method: String = "GET", _ url: LoopbackURL,
    headers: [(name: String, value: String)] = [], body: Data = Data(),
    within limit: Duration = .seconds(60)
  ) async throws(LoopbackError) -> LoopbackAnswer {
    let connection = try await LoopbackConnection(to: url.address, port: url.port)
    var lines = ["\(method) \(url.target) HTTP/1.1", "Host: \(url.host):\(url.port)"]
    lines += headers.map { "\($0.name): \($0.value)" }
    if !body.isEmpty || method == "POST" { lines.append("Content-Length: \(body.count)") }
    lines.append("Connection: close")
    let head = lines.map { $0 + "\r\n" }.joined() + "\r\n"
    try await connection.send(Data(head.utf8) + body)
    let bytes = try await connection.receiveAll(within: limit)
    guard let answer = LoopbackAnswer(bytes, hasContent: method != "HEAD") else {
      throw .malformedAnswer
    }
    return answer
  }
}

extension LoopbackAnswer {
  /// Parses an answer from all bytes of a connection, and fails if they are malformed or
  /// incomplete.
  ///
  /// Without `hasContent`, as in the answer to HEAD, the length in the head is ignored.
  package init?(_ bytes: Data, hasContent: Bool = true) {
    guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let lines = head.split(separator: "\r\n")
    let words = lines.first?.split(separator: " ", maxSplits: 2) ?? []
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      return nil
    }
    self.status = status
    headers = lines.dropFirst().map { line in
      let name = line.prefix { $0 != ":" }
      let value = line.dropFirst(name.count + 1)
      return (name.lowercased(), String(value.trimmed))
    }
    let content = bytes[end.upperBound...]
    let coding = headers.first { $0.name == "transfer-encoding" }?.value.lowercased()
    if hasContent, coding == "chunked" {
      guard let joined = Self.joined(chunks: content) else { return nil }
      body = joined
      return
    }
    let field = hasContent ? headers.first { $0.name == "content-length" }?.value : "0"
    guard let field else {
      body = Data(content)
      return
    }
    // RFC 9110, section 8.6, allows only digits.
    guard field.utf8.allSatisfy(\.isDigit), let length = Int(field), length <= content.count else {
      return nil
    }
    body = Data(content.prefix(length))
  }

  /// Returns the content of a body in chunks, or `nil` if it is malformed or incomplete.
  ///
  /// - SeeAlso: RFC 9112, section 7.1
  private static func joined(chunks bytes: Data) -> Data? {
    var content = Data()
    var rest = bytes[...]
    while let line = rest.firstRange(of: Data("\r\n".utf8)) {
      let digits = rest[..<line.lowerBound].prefix { $0 != UInt8(ascii: ";") }
      rest = rest[line.upperBound...]
      guard let size = UInt32(String(decoding: digits, as: UTF8.self).trimmed, radix: 16),
        size <= rest.count
      else { return nil }
      guard size > 0 else { return content }
      content.append(rest.prefix(Int(size)))
      rest = rest.dropFirst(Int(size))
      guard rest.starts(with: "\r\n".utf8) else { return nil }
      rest = rest.dropFirst(2)
    }
    return nil
  }
}
