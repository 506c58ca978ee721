import FoundationEssentials

@testable import SQLoopback

extension Fuzzer {
  /// A fuzzer for the requests to a loopback server: any program on this machine may send them.
  static let httpRequest = Fuzzer("http-request") { input in
    let whole = try Conversation(input)
    for size in [1, 2, 7, 64] {
      let inPieces = try Conversation(input, pieces: size)
      try require(inPieces == whole, "pieces of \(size) bytes read differently")
    }
    for request in whole.requests {
      try request.check()
      // Written in the standard form with its length, the request is read as the same request.
      let again = try Conversation(request.bytes, limits: Conversation.doubled)
      try require(
        again.requests == [request.withLength] && again.status == nil,
        "the request is not read again: \(request)")
    }
  }
}

/// The parser's results for the bytes of one connection.
private struct Conversation: Equatable {
  static let limits = {
    var limits = LoopbackLimits()
    limits.headerBytes = 1024
    limits.bodyBytes = 256
    return limits
  }()
  /// Limits for requests that are written again: a byte that is not UTF-8 becomes three bytes.
  static let doubled = {
    var limits = LoopbackLimits()
    limits.headerBytes = 4096
    limits.bodyBytes = 256
    return limits
  }()

  var requests: [Request] = []
  /// The status of the rejection, or `nil` if the requests were accepted.
  var status: Int?

  init(_ input: Data, pieces: Int = .max, limits: LoopbackLimits = limits) throws {
    var parser = RequestParser(limits: limits)
    var rest = [UInt8](input)[...]
    while !rest.isEmpty, status == nil {
      Array(rest.prefix(pieces)).withUnsafeBytes { parser.append($0) }
      rest = rest.dropFirst(pieces)
      try takeEvents(&parser)
    }
    guard let status else { return }
    try require(
      [400, 413, 414, 417, 431, 501, 505].contains(status),
      "a request is refused with status \(status)")
    // After a refusal, the start of the next request is unknown, so the parser must refuse a
    // further request, too.
    Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8).withUnsafeBytes { parser.append($0) }
    guard case .refused(status) = parser.next() else {
      throw Finding(description: "a request is read after one that was refused")
    }
  }

  private mutating func takeEvents(_ parser: inout RequestParser) throws {
    while true {
      switch parser.next() {
      case .incomplete: return
      // Do not compare these events: they depend on when the body arrives.
      case .expectsContinue: continue
      case .request(let parsed): requests.append(Request(parsed))
      case .refused(let status):
        self.status = status
        return
      }
    }
  }
}

private struct Request: Equatable {
  struct Field: Equatable {
    let name: String
    let value: String
  }

  let method: String
  let target: String
  var fields: [Field]
  let body: Data
  let keepsAlive: Bool

  init(_ parsed: ParsedRequest) {
    method = parsed.request.method
    target = parsed.request.target
    fields = parsed.request.headers.map { Field(name: $0.name, value: $0.value) }
    body = parsed.request.body
    keepsAlive = parsed.keepsAlive
  }

  func check() throws(Finding) {
    try require(method.isToken && method.utf8.count <= 32, "the method is \(method)")
    try require(
      !target.isEmpty && target.isASCII(withSpaces: false) && !target.contains("#"),
      "the target is \(target)")
    try require(fields.count <= 128, "\(fields.count) fields")
    try require(body.count <= Conversation.limits.bodyBytes, "a body of \(body.count) bytes")
    for field in fields {
      try require(field.name.isToken && field.name == field.name.lowercased(), "\(field)")
      try require(
        field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "\(field)")
      let ends = [field.value.utf8.first, field.value.utf8.last]
      try require(!ends.contains(0x20) && !ends.contains(0x09), "\(field)")
    }
    let lengths = fields.filter { $0.name == "content-length" }
    let codings = fields.filter { $0.name == "transfer-encoding" }
    try require(lengths.count + codings.count <= 1, "two framings")
    if let length = lengths.first { try require(Int(length.value) == body.count, "\(length)") }
    try require(body.isEmpty || lengths.count + codings.count == 1, "a body without framing")
  }

  /// The request with its length as the last field, if it has a body.
  var withLength: Request {
    var request = self
    request.fields.removeAll { ["content-length", "transfer-encoding"].contains($0.name) }
    if !body.isEmpty {
      request.fields.append(Field(name: "content-length", value: "\(body.count)"))
    }
    return request
  }

  var bytes: Data {
    let lines = withLength.fields.map { "\($0.name): \($0.value)\r\n" }
    let line = "\(method) \(target) HTTP/1.\(keepsAlive ? 1 : 0)\r\n"
    return Data((line + lines.joined() + "\r\n").utf8) + body
  }
}
