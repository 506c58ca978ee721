import LoopbackSupport
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2
import TestSupport
import Testing

/// Clients that break the rules of HTTP/2.
///
/// They affect no other connection. Many tests keep a processor busy, so they run one by one.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HostileClientTests {
  private typealias Raw = RawHTTP2Client

  private static let request = Raw.block([
    (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a"),
  ])

  private static let malformed: [(name: String, bytes: [UInt8])] = [
    ("HTTP/1.1", Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)),
    ("TLS", [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3] + [UInt8](repeating: 7, count: 500)),
    ("no settings", Array(Raw.greeting.prefix(24)) + Raw.frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])),
    ("a huge frame", Raw.greeting + [255, 255, 255, 0, 0, 0, 0, 0, 1]),
    ("content of stream 0", Raw.greeting + Raw.frame(0, 0, 0, [1])),
    ("content of an idle stream", Raw.greeting + Raw.frame(0, 0, 9, [1])),
    ("an even stream", Raw.greeting + Raw.frame(1, 5, 2, request)),
    ("a broken block", Raw.greeting + Raw.frame(1, 5, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])),
    ("a cut block", Raw.greeting + Raw.frame(1, 1, 1, request) + Raw.frame(0, 1, 1, [])),
    ("a stray continuation", Raw.greeting + Raw.frame(9, 4, 1, request)),
    ("a push", Raw.greeting + Raw.frame(5, 4, 1, [0, 0, 0, 2] + request)),
    ("a short ping", Raw.greeting + Raw.frame(6, 0, 0, [1])),
    ("a window increment of 0", Raw.greeting + Raw.frame(8, 0, 0, [0, 0, 0, 0])),
    (
      "a window that overflows",
      Raw.greeting + Raw.frame(8, 0, 0, [127, 255, 255, 255])
        + Raw.frame(8, 0, 0, [127, 255, 255, 255])
    ),
    ("a wrong setting", Raw.greeting + Raw.frame(4, 0, 0, [0, 4, 255, 255, 255, 255])),
    ("half a setting", Raw.greeting + Raw.frame(4, 0, 0, [0, 4, 255])),
  ]

  @Test(arguments: malformed.map(\.name))
  func `a connection that breaks the rules is closed`(name: String) async throws {
    let bytes = try #require(Self.malformed.first { $0.name == name }).bytes
    try await KeepingServer.running { server in
      let client = try server.connect(greets: false)
      client.send(bytes)
      try await client.ended()
      try await Self.serves(server)
    }
  }

  @Test func `fields that decompress to too many bytes reset only their stream`() async throws {
    try await KeepingServer.running { server in
      let client = try server.connect()
      // One long field enters the compression table. Each of the hundred bytes after it repeats the
      // field.
      let long =
        [0x40, 1] + Array("x".utf8) + [127, 0xA1, 0x1E] + [UInt8](repeating: 97, count: 4000)
      client.send(
        Raw.frame(1, 5, 1, Self.request + long + [UInt8](repeating: 0xBE, count: 100)))
      #expect(
        try await client.wholeAnswer(1).resetCode == HTTP2ErrorCode.internalError.rawValue)
      // A few repetitions are harmless.
      client.send(Raw.frame(1, 5, 3, Self.request + [0xBE, 0xBE]))
      let exchange = try await server.exchange(0)
      #expect(exchange.fields.count { $0.name == "x" && $0.value.count == 4000 } == 2)
      // The limit includes trailers.
      client.send(Raw.frame(1, 4, 5, Self.request))
      let open = try await server.exchange(1)
      client.send(Raw.frame(1, 5, 5, [UInt8](repeating: 0xBE, count: 100)))
      #expect(await open.content.value() == .cut)
      exchange.answer("fine")
      #expect(try await client.wholeAnswer(3).isComplete)
    }
  }

  @Test func `a request with missing or invalid fields is reset`() async throws {
    let blocks: [[UInt8]] = [
      Raw.block([(":method", "GET")]), Raw.block([("a", "b")]),
      Self.request + Raw.block([("Upper", "a")]),
      Self.request + Raw.block([("connection", "close")]),
      Self.request + Raw.block([(":path", "/twice")]), Self.request + Raw.block([("a", "b\0c")]),
      Self.request + Raw.block([("content-length", "5")]),
    ]
    try await KeepingServer.running { server in
      let client = try server.connect()
      for (index, block) in blocks.enumerated() {
        let stream = UInt32(2 * index + 1)
        client.send(Raw.frame(1, 5, stream, block))
        let answer = try await client.wholeAnswer(stream)
        #expect(answer.resetCode == HTTP2ErrorCode.protocolError.rawValue, "\(index)")
      }
      #expect(server.count == 0)
      try await Self.serves(server)
    }
  }

  @Test func `requests that are reset at once are closed, and a later request is served`()
    async throws
  {
    try await KeepingServer.running { server in
      let client = try server.connect()
      for stream in stride(from: UInt32(1), to: 1000, by: 2) {
        client.ask(stream, ends: false)
        client.reset(stream)
      }
      client.ask(1001)
      let last = try await eventually("the last request arrives") {
        let count = server.count
        guard count > 0 else { return nil as HTTP2Exchange? }
        let exchange = try await server.exchange(count - 1)
        return exchange.content.current == .whole([]) ? exchange : nil
      }
      for index in 0..<(server.count - 1) {
        try await server.exchange(index).closed()
      }
      last.answer("fine")
      #expect(try await client.wholeAnswer(1001).isComplete)
    }
  }

  private static let floods: [(name: String, frame: [UInt8])] = [
    ("empty content", Raw.frame(0, 0, 1, [])),
    ("padding", Raw.frame(0, 8, 1, [3, 0, 0, 0])),
    ("priorities", Raw.frame(2, 0, 1, [0, 0, 0, 0, 16])),
    ("settings", Raw.frame(4, 0, 0, [])),
    ("pings", Raw.frame(6, 0, 0, [UInt8](repeating: 0, count: 8))),
    ("answers to pings", Raw.frame(6, 1, 0, [UInt8](repeating: 0, count: 8))),
    ("windows", Raw.frame(8, 0, 0, [0, 0, 0, 1])),
    ("unknown frames", Raw.frame(99, 0, 1, [1, 2, 3])),
  ]

  @Test(arguments: floods.map(\.name))
  func `a flood of frames without content ends its connection, and other clients are served`(
    name: String
  ) async throws {
    let frame = try #require(Self.floods.first { $0.name == name }).frame
    let batch = [UInt8](repeatElement(frame, count: 16_384 / frame.count).joined())
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1, ends: false)
      let exchange = try await server.exchange(0)
      let flooding = Task.detached { while !client.hasEnded { client.send(batch) } }
      try await Self.serves(server)
      try await client.ended()
      try await exchange.closed()
      await flooding.value
      try await Self.serves(server)
    }
  }

  @Test func `content in small pieces is not treated as a flood`() async throws {
    try await KeepingServer.running { server in
      let client = try server.connect()
      let count = 50_000
      for (index, stream) in [UInt32(1), 3, 5].enumerated() {
        client.ask(stream, ends: false)
        let exchange = try await server.exchange(index)
        let piece = Raw.frame(0, 0, stream, [7])
        client.send([UInt8](repeatElement(piece, count: count).joined()))
        client.write([], to: stream)
        #expect(await exchange.content.value() == .whole([UInt8](repeating: 7, count: count)))
      }
    }
  }

  /// Checks that the server still answers another client.
  private static func serves(_ server: KeepingServer) async throws {
    let client = try server.connect()
    let count = server.count
    client.ask(1)
    try await server.exchange(count).answer("fine")
    #expect(try await client.wholeAnswer(1).content == Array("fine".utf8))
  }
}
