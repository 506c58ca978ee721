import GRPCValueSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Header sections that are malformed or cannot be decompressed.
@Suite(.timeLimit(.minutes(1))) struct HeaderRuleTests {
  private static func offence(
    _ name: String, _ fields: KeyValuePairs<String, String>
  ) -> Offence {
    Offence(name, .stream, Bytes.headers(fields) + Bytes.data(Bytes.message()) + Bytes.trailers())
  }

  /// Malformed header sections (RFC 9113, sections 8.1 to 8.3).
  static let malformed = [
    offence("no status", ["content-type": "application/grpc"]),
    offence("no field", [:]),
    offence("two statuses", [":status": "200", ":status": "200"]),
    offence("two different statuses", [":status": "200", ":status": "404"]),
    offence("a status of two digits", [":status": "20"]),
    offence("a status of four digits", [":status": "2000"]),
    offence("a status of letters", [":status": "abc"]),
    offence("a negative status", [":status": "-20"]),
    offence("an empty status", [":status": ""]),
    offence("the status 101", [":status": "101"]),
    offence("a status after a field", ["content-type": "application/grpc", ":status": "200"]),
    offence("a pseudo-field of requests", [":status": "200", ":path": "/"]),
    offence("an unknown pseudo-field", [":status": "200", ":version": "2"]),
    offence("an empty name", [":status": "200", "": "a"]),
    offence("a name with a space", [":status": "200", "a b": "c"]),
    offence("a name with a colon", [":status": "200", "a:": "b"]),
    offence("a name with a null", [":status": "200", "a\u{0}": "b"]),
    offence("a name that is not ASCII", [":status": "200", "\u{E9}": "a"]),
    offence("a value with a null", [":status": "200", "a": "b\u{0}c"]),
    offence("a value with a line feed", [":status": "200", "a": "b\nc"]),
    offence("a value with two lines", [":status": "200", "a": "b\r\nc: d"]),
    offence("a value with a control character", [":status": "200", "a": "\u{7F}"]),
    offence("a name in upper case", [":status": "200", "Content-Type": "application/grpc"]),
    offence("connection", [":status": "200", "connection": "close"]),
    offence("keep-alive", [":status": "200", "keep-alive": "5"]),
    offence("proxy-connection", [":status": "200", "proxy-connection": "close"]),
    offence("transfer-encoding", [":status": "200", "transfer-encoding": "chunked"]),
    offence("upgrade", [":status": "200", "upgrade": "websocket"]),
    offence("te other than trailers", [":status": "200", "te": "gzip"]),
    offence("two lengths", [":status": "200", "content-length": "5", "content-length": "5"]),
    offence("a length of letters", [":status": "200", "content-length": "five"]),
    offence("a negative length", [":status": "200", "content-length": "-5"]),
    offence(
      "a length that overflows",
      [
        ":status": "200", "content-length": "99999999999999999999999",
      ]),
    offence("a length with status 100", [":status": "100", "content-length": "5"]),
    Offence(
      "an interim status that ends the stream", .stream,
      Bytes.headers([":status": "103"], [.endHeaders, .endStream])),
    Offence(
      "content after an interim status", .stream,
      Bytes.headers([":status": "103"]) + Bytes.data(Bytes.message())),
    Offence(
      "more content than announced", .stream,
      Bytes.headers([":status": "200", "content-type": "application/grpc", "content-length": "4"])
        + Bytes.data(Bytes.message()) + Bytes.trailers()),
    Offence(
      "less content than announced", .stream,
      Bytes.headers([":status": "200", "content-type": "application/grpc", "content-length": "6"])
        + Bytes.data(Bytes.message(), .endStream)),
    Offence(
      "less content than announced, before trailers", .stream,
      Bytes.headers([":status": "200", "content-type": "application/grpc", "content-length": "6"])
        + Bytes.data(Bytes.message()) + Bytes.trailers()),
    Offence(
      "a pseudo-field in trailers", .stream,
      Bytes.head() + Bytes.data(Bytes.message())
        + Bytes.headers([":status": "200", "grpc-status": "0"], [.endHeaders, .endStream])),
    Offence(
      "a connection-specific field in trailers", .stream,
      Bytes.head() + Bytes.data(Bytes.message())
        + Bytes.headers(["grpc-status": "0", "connection": "close"], [.endHeaders, .endStream])),
    Offence(
      "trailers that do not end the stream", .stream,
      Bytes.head() + Bytes.data(Bytes.message()) + Bytes.headers(["grpc-status": "0"])),
  ]

  @Test(arguments: malformed)
  func `a malformed response fails only its call`(offence: Offence) async throws {
    try await offence.check()
  }

  private static func block(_ name: String, _ bytes: [UInt8]) -> Offence {
    Offence(
      name, .connection, .compressionError,
      Bytes.frame(.headers, .endHeaders, stream: 1, [0x88] + bytes))
  }

  /// Undecodable blocks (RFC 7541).
  ///
  /// Each block begins with `:status: 200` from the static table.
  static let undecodable = [
    block("the index 0", [0x80]),
    block("an index beyond the tables", [0xFF, 0x00]),
    block("a name index beyond the tables", [0x0F, 0x80, 0x7F, 0x01, 0x61]),
    block("an index without end", [0xFF] + [UInt8](repeating: 0xFF, count: 20)),
    block("a length without end", [0x00, 0x7F] + [UInt8](repeating: 0xFF, count: 20)),
    block("a text longer than the block", [0x00, 0x05, 0x61, 0x62]),
    block("a name without a value", [0x00, 0x01, 0x61]),
    block("a cut-off number", [0xFF]),
    // Section 5.2: padding must be ones and shorter than a byte, and EOS must not be encoded.
    block("Huffman code with a padding of zeros", [0x00, 0x01, 0x61, 0x81, 0x18]),
    block("Huffman code with a byte of padding", [0x00, 0x01, 0x61, 0x82, 0x1F, 0xFF]),
    block("Huffman code with EOS", [0x00, 0x01, 0x61, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]),
    // Section 4.2: a size update must come first and not exceed the announced size.
    block("a table size update after a field", [0x3F, 0x01]),
  ]

  @Test(arguments: undecodable)
  func `a header section that cannot be decompressed ends the connection`(
    offence: Offence
  ) async throws {
    try await offence.check()
  }

  @Test func `an HPACK table size above the announced size ends the connection`() async throws {
    try await Offence(
      "", .connection, .compressionError,
      Bytes.frame(
        .headers, .endHeaders, stream: 1, Bytes.integer(4097, bits: 5, 0x20) + [0x88])
    ).check()
  }

  /// Interim header sections that are valid or harmless.
  static let fine: [(String, [UInt8])] = [
    ("a status 100", Bytes.headers([":status": "100"])),
    ("a status 103", Bytes.headers([":status": "103", "link": "</a>; rel=preload"])),
    ("ten in a row", [UInt8](repeatElement(Bytes.headers([":status": "199"]), count: 10).joined())),
    (
      "a table size update",
      Bytes.frame(
        .headers, .endHeaders, stream: 1, [0x20] + Bytes.block([":status": "103"]))
    ),
  ]

  @Test(arguments: fine)
  func `interim header sections before the final one are skipped`(
    name: String, bytes: [UInt8]
  ) async throws {
    try await HostileServer.once(.afterRequest(.send(bytes + Bytes.answer()))) { server in
      let channel = try server.channel()
      #expect(try await channel.test("Call").response().isEmpty)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `a status message keeps its leading and trailing spaces`() async throws {
    let answer = Bytes.headers(
      [
        ":status": "200", "content-type": "application/grpc", "grpc-status": "9",
        "grpc-message": " not now ",
      ], [.endHeaders, .endStream])
    try await HostileServer.once(.afterRequest(.send(answer))) { server in
      let error = await rpcFailure(.failedPrecondition) {
        try await server.channel().test("Call").response()
      }
      #expect(error?.message == " not now ")
    }
  }

  @Test func `a header field that is repeated many times by its index fails only its call`()
    async throws
  {
    try await HostileServer.once(.afterRequest(.send(Bytes.repeatedField))) { server in
      let channel = try server.channel()
      let error = await rpcFailure(.resourceExhausted) { try await channel.test("X").response() }
      #expect(error?.message.contains("metadata fields") == true)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1 && server.log().reset() != nil)
    }
  }

  @Test(arguments: [300, 3000])
  func `too many header fields fail only their call`(count: Int) async throws {
    let fields = [UInt8](repeatElement(Bytes.block(["x": ""]), count: count).joined())
    let bytes = Bytes.frame(.headers, .endHeaders, stream: 1, [0x88] + fields)
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      await rpcFailure(.resourceExhausted) { try await channel.test("X").response() }
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }
}
