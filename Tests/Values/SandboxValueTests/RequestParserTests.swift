import FoundationEssentials
import SQLoopback
import Testing

@Suite struct RequestParserTests {
  /// Returns the events of a text that the parser gets in pieces of the given size.
  private func events(
    _ text: String, pieces: Int = .max, limits: LoopbackLimits = LoopbackLimits()
  ) -> [RequestParser.Event] {
    var parser = RequestParser(limits: limits)
    var events: [RequestParser.Event] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      piece.withUnsafeBytes { parser.append($0) }
      loop: while true {
        switch parser.next() {
        case .incomplete: break loop
        case .refused(let status): return events + [.refused(status: status)]
        case let event: events.append(event)
        }
      }
    }
    return events
  }

  private func status(_ text: String, limits: LoopbackLimits = LoopbackLimits()) -> Int? {
    guard case .refused(let status) = events(text, limits: limits).last else { return nil }
    return status
  }

  private func request(_ text: String, pieces: Int = .max) throws -> LoopbackRequest {
    let events = events(text, pieces: pieces)
    guard case .request(let parsed) = events.last else {
      throw Unexpected(what: "\(events)")
    }
    return parsed.request
  }

  private struct Unexpected: Error { let what: String }

  @Test(arguments: [
    ("GET /\r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
    ("GET / x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / http/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("GET /#fragment HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /<script> HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\nHost: a\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\rXX: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n X: first\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{7F}\r\n\r\n", 400),
    ("\u{16}\u{3}\u{1}", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a, b c\r\n\r\n", 400),
    ("\(String(repeating: "M", count: 33)) / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", 417),
  ])
  func `a malformed head is rejected`(text: String, expected: Int) {
    #expect(status(text) == expected)
  }

  @Test(arguments: [
    ("Content-Length: 1\r\nContent-Length: 1\r\n", 400),
    ("Content-Length: 1\r\nContent-Length: 2\r\n", 400),
    ("Content-Length: 1, 1\r\n", 400),
    ("Content-Length: +1\r\n", 400),
    ("Content-Length: -1\r\n", 400),
    ("Content-Length: 0x1\r\n", 400),
    ("Content-Length: 1 1\r\n", 400),
    ("Content-Length:\r\n", 400),
    ("Content-Length: \u{0661}\r\n", 400),
    ("Content-Length: 99999999999999999999999\r\n", 413),
    ("Content-Length: 1048577\r\n", 413),
    ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
    ("Transfer-Encoding: chunked, chunked\r\n", 400),
    ("Transfer-Encoding: chunked, gzip\r\n", 400),
    ("Transfer-Encoding: gzip, chunked\r\n", 501),
    ("Transfer-Encoding: gzip\r\n", 501),
    ("Transfer-Encoding: identity\r\n", 501),
    ("Transfer-Encoding: xchunked\r\n", 501),
    ("Transfer-Encoding: \"chunked\"\r\n", 501),
    ("Transfer-Encoding:\r\n", 400),
    ("Transfer-Encoding: ,chunked\r\n", 400),
    ("Transfer-Encoding : chunked\r\n", 400),
    ("Transfer-Encoding:\u{B}chunked\r\n", 400),
  ])
  func `an ambiguous framing is rejected`(fields: String, expected: Int) {
    #expect(status("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\nx") == expected)
  }

  @Test func `a transfer coding from an HTTP 1 0 client is rejected`() {
    #expect(status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400)
  }

  @Test(arguments: [
    ("x\r\n", 400), ("\r\n", 400), (" 1\r\nx\r\n", 400), ("1 \r\nx\r\n", 400),
    ("0x1\r\nx\r\n", 400), ("-1\r\nx\r\n", 400), ("1\nx\r\n", 400), ("1\r\nxy\r\n", 400),
    ("1\r\nx\n0\r\n\r\n", 400), ("1\r\nx0\r\n\r\n", 400), ("1 ;a=b\r\nx\r\n", 400),
    ("1;\(String(repeating: "e", count: 300))", 400),
    ("ffffffffffffffffffff\r\n", 413), ("fffffffffffffff\r\n", 413), ("100001\r\n", 413),
    ("0\r\nbad trailer\r\n\r\n", 400), ("0\r\nA: b\r\n folded\r\n\r\n", 400),
  ])
  func `a malformed chunk is rejected`(body: String, expected: Int) {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(status(head + body) == expected)
  }

  @Test func `a chunked body is rejected if all chunks together exceed the body limit`() {
    var limits = LoopbackLimits()
    limits.bodyBytes = 10
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(status(head + "6\r\n123456\r\n5\r\n", limits: limits) == 413)
    #expect(status(head + "6\r\n123456\r\n4\r\n7890\r\n0\r\n\r\n", limits: limits) == nil)
  }

  @Test func `a head over its limit is rejected`() {
    var limits = LoopbackLimits()
    limits.headerBytes = 64
    #expect(status("GET /" + String(repeating: "a", count: 60), limits: limits) == 414)
    let fields = "Host: a\r\nX: " + String(repeating: "a", count: 60)
    #expect(status("GET / HTTP/1.1\r\n" + fields, limits: limits) == 431)
    let many = String(repeating: "X: y\r\n", count: 129)
    #expect(status("GET / HTTP/1.1\r\nHost: a\r\n" + many + "\r\n") == 431)
  }

  @Test(arguments: [1, 2, 3, 7, 64, Int.max])
  func `requests are the same, however their bytes are split`(pieces: Int) throws {
    let text = """
      \r
      POST /a?b=%20c HTTP/1.1\r
      Host: 127.0.0.1:80\r
      X-Empty:\r
      X-Padded: \t v v \t \r
      Content-Length: 5\r
      \r
      helloPUT /chunked HTTP/1.1\r
      HOST: [::1]:80\r
      Transfer-Encoding: Chunked\r
      \r
      5;ext="a"\r
      hello\r
      06\r
       world\r
      0\r
      Trailer: dropped\r
      \r
      GET /last HTTP/1.0\r
      \r

      """
    let requests = events(text, pieces: pieces).compactMap {
      if case .request(let parsed) = $0 { parsed } else { nil }
    }
    try #require(requests.count == 3)
    #expect(requests.map(\.request.method) == ["POST", "PUT", "GET"])
    #expect(requests.map(\.request.target) == ["/a?b=%20c", "/chunked", "/last"])
    #expect(requests[0].request.path == "/a")
    #expect(requests[0].request.query == "b=%20c")
    #expect(requests[0].request.header("x-empty") == "")
    #expect(requests[0].request.header("X-Padded") == "v v")
    #expect(requests[0].request.body == Data("hello".utf8))
    #expect(requests[1].request.header("host") == "[::1]:80")
    #expect(requests[1].request.body == Data("hello world".utf8))
    #expect(requests[1].request.header("trailer") == nil)
    #expect(requests.map(\.keepsAlive) == [true, true, false])
  }

  @Test func `corrupted bytes give the same events, however they are split`() throws {
    let whole = Array(
      """
      POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc\
      PUT /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\n\r\n\
      GET /c HTTP/1.1\r\nHost: a\r\n\r\n
      """.utf8)
    let spoilers = Array("\r\n\0\t :;,0129afPOST/%\u{7F}".utf8)
    var generator = SplitMix(state: 42)
    for _ in 0..<1_000 {
      var bytes = whole
      for _ in 0...generator.next() % 3 {
        let index = Int(generator.next() % UInt64(bytes.count))
        let spoiler = spoilers[Int(generator.next() % UInt64(spoilers.count))]
        switch generator.next() % 3 {
        case 0: bytes[index] = spoiler
        case 1: bytes.insert(spoiler, at: index)
        default: bytes.remove(at: index)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let atOnce = events(text).map { String(describing: $0) }
      let oneByOne = events(text, pieces: 1).map { String(describing: $0) }
      #expect(atOnce == oneByOne, "\(text.debugDescription)")
    }
  }

  /// A random generator with a seed, which makes a failure repeatable.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  @Test func `a header value with characters beyond ASCII is accepted`() throws {
    // Another program on this host may have set any cookie; the browser sends it to every port.
    let request = try request("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=\u{E9}\r\n\r\n")
    #expect(request.header("cookie") == "a=\u{E9}")
  }

  @Test func `many combining marks in a row of a header value are separated`() throws {
    // Otherwise comparing the value would take a time that is the square of its length.
    let marks = String(repeating: "\u{301}", count: 20) + String(repeating: "\u{316}", count: 20)
    let request = try request("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=\(marks)\r\n\r\n")
    let value = try #require(request.header("cookie"))
    #expect(value.unicodeScalars.count == 2 + 40 + 1)
    #expect(value.unicodeScalars.contains("\u{34F}"))
  }

  @Test(arguments: [
    ("close", false), ("Close", false), ("x, close", false), ("keep-alive", true), ("x", true),
  ])
  func `the connection option close is obeyed`(value: String, keepsAlive: Bool) throws {
    let text = "GET / HTTP/1.1\r\nHost: a\r\nConnection: \(value)\r\n\r\n"
    guard case .request(let parsed) = events(text).last else {
      Issue.record("no request was read")
      return
    }
    #expect(parsed.keepsAlive == keepsAlive)
  }

  @Test func `a client that expects 100-continue gets it only if its body has not arrived`() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    guard case .expectsContinue = events(head).last else {
      Issue.record("the client was not told to continue")
      return
    }
    let whole = events(head + "ok")
    guard case .request? = whole.first, whole.count == 1 else {
      Issue.record("the events are not a request alone: \(whole)")
      return
    }
  }

  /// RFC 9112, section 3.2.2: a server must accept the absolute form.
  @Test(arguments: [
    ("http://example.test:80/a?b=/c?d", "/a?b=/c?d"), ("HTTP://Example.TEST:80/a", "/a"),
    ("http://example.test:80", "/"), ("http://example.test:80?a=b", "/?a=b"),
  ])
  func `a target in absolute form is read as its path and query`(target: String, path: String)
    throws
  {
    let request = try request("GET \(target) HTTP/1.1\r\nHost: example.test:80\r\n\r\n")
    #expect(request.pathAndQuery == path && request.target == target)
  }

  @Test(arguments: [
    "http://other.test:80/a", "http://example.test/a", "http://a@example.test:80/a",
    "https://example.test:80/a", "http:/a", "example.test:443", "*",
  ])
  func `a target that is not an absolute URL of this server is not changed`(target: String) throws {
    let request = try request("GET \(target) HTTP/1.1\r\nHost: example.test:80\r\n\r\n")
    #expect(request.pathAndQuery == target && request.target == target)
  }

  @Test func `after a rejection, every later request on the connection is rejected`() {
    var parser = RequestParser()
    for text in ["GET\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
      Array(text.utf8).withUnsafeBytes { parser.append($0) }
      guard case .refused(400) = parser.next() else {
        Issue.record("a malformed or later request was accepted")
        return
      }
    }
  }
}
