import Foundation
import GRPCValueSupport
import Testing

@testable import SequencingOAuthGRPC

extension FrameParser {
  fileprivate mutating func take(_ piece: Data) throws -> [MessageFrame] {
    try piece.withUnsafeBytes { try take($0) }
  }
}

/// How a stream of bytes is split into messages, whatever pieces it arrives in.
@Suite struct FrameTests {
  private static let messages = [
    Data(), Data([1]), Data("hello".utf8), Data(repeating: 7, count: 300), Data([0, 0, 0, 0, 0]),
  ]

  private static func stream() throws -> Data {
    try messages.reduce(into: Data()) { data, message in
      data += try MessageFrame(message, compression: .identity, limit: 1000).bytes
    }
  }

  @Test
  func `a frame is a flag, a length and the message, and a message over the limit is rejected`()
    throws
  {
    let frame = try MessageFrame(Data("abc".utf8), compression: .identity, limit: 3)
    #expect(frame.bytes == Data([0, 0, 0, 0, 3, 97, 98, 99]))
    rpcFailure(.resourceExhausted) {
      try MessageFrame(Data("abcd".utf8), compression: .identity, limit: 3)
    }
  }

  @Test func `a stream in two pieces gives the same messages, wherever it is cut`() throws {
    let stream = try Self.stream()
    for cut in 0...stream.count {
      var parser = FrameParser(limit: 300)
      let frames = try parser.take(stream.prefix(cut)) + parser.take(stream.dropFirst(cut))
      #expect(frames.map(\.content) == Self.messages && parser.isAtEnd)
    }
  }

  @Test func `a short stream in three pieces gives the same messages, wherever it is cut`() throws {
    let stream = try Self.stream().prefix(40)
    var whole = FrameParser(limit: 300)
    let expected = try whole.take(stream)
    for first in 0...stream.count {
      for second in first...stream.count {
        var parser = FrameParser(limit: 300)
        let frames =
          try parser.take(stream[..<first]) + parser.take(stream[first..<second])
          + parser.take(stream[second...])
        #expect(frames == expected && parser.isAtEnd == whole.isAtEnd)
      }
    }
  }

  @Test func `a stream read byte by byte gives the same messages`() throws {
    var parser = FrameParser(limit: 300)
    let frames = try Self.stream().flatMap { try parser.take(Data([$0])) }
    #expect(frames.map(\.content) == Self.messages && parser.isAtEnd)
  }

  @Test(arguments: [[UInt8(2)], [255, 0, 0, 0, 0], [71, 69, 84]])
  func `bytes that begin no message are rejected at the first byte`(bytes: [UInt8]) {
    var parser = FrameParser(limit: 300)
    rpcFailure(.internal) { try parser.take(Data(bytes)) }
  }

  @Test(arguments: [[UInt8(0), 0, 0, 1, 45], [1, 255, 255, 255, 255]])
  func `a message whose length prefix exceeds the limit is rejected`(bytes: [UInt8]) {
    var parser = FrameParser(limit: 300)
    rpcFailure(.resourceExhausted) { try parser.take(Data(bytes)) }
  }

  @Test func `the parser reports an incomplete message`() throws {
    var parser = FrameParser(limit: 300)
    #expect(try parser.take(Data([0, 0, 0, 0, 2, 9])).isEmpty && !parser.isAtEnd)
  }

  @Test func `a compressed message can be read only with the encoding gzip`() throws {
    let text = Data(String(repeating: "abc", count: 100).utf8)
    let frame = try MessageFrame(text, compression: .gzip, limit: 300)
    #expect(frame.isCompressed && frame.content.count < 100)
    #expect(try frame.message(encoding: "gzip", limit: 300) == text)
    for encoding in [nil, "identity", "snappy"] {
      rpcFailure(.internal) { try frame.message(encoding: encoding, limit: 300) }
    }
    // A message that compression does not shrink is sent as it is.
    let small = try MessageFrame(Data([1]), compression: .gzip, limit: 300)
    #expect(!small.isCompressed)
  }
}

/// How messages are compressed and decompressed with gzip.
@Suite struct GzipTests {
  @Test(arguments: [0, 1, 1000, 1_000_000])
  func `decompression restores the compressed data`(count: Int) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) })
    let compressed = try #require(Gzip.encode(data))
    #expect(compressed.starts(with: [0x1F, 0x8B]))
    #expect(try Gzip.decode(compressed, limit: count) == data)
    if count > 0 {
      rpcFailure(.resourceExhausted) { try Gzip.decode(compressed, limit: count - 1) }
    }
  }

  @Test func `decompression of a gzip bomb stops at the limit`() throws {
    let bomb = try #require(Gzip.encode(Data(count: 100_000_000)))
    #expect(bomb.count < 200_000)
    rpcFailure(.resourceExhausted) { try Gzip.decode(bomb, limit: 4 << 20) }
  }

  @Test func `damaged data is rejected`() throws {
    let whole = try #require(Gzip.encode(Data("some words, some words".utf8)))
    for count in 0..<whole.count {
      rpcFailure(.internal) { try Gzip.decode(whole.prefix(count), limit: 1000) }
    }
    rpcFailure(.internal) { try Gzip.decode(whole + [0], limit: 1000) }
    var changed = whole
    changed[changed.count - 6] ^= 1
    rpcFailure(.internal) { try Gzip.decode(changed, limit: 1000) }
  }
}
