import Foundation
import GRPCValueSupport
import SequencingOAuth
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// Extreme values of a channel's options never crash the process.
@Suite(.timeLimit(.minutes(1))) struct OptionTests {
  private func withChannel(
    _ answer: WebResponse, _ change: (inout RPCOptions) -> Void,
    _ body: (RPCChannel) async throws -> Void
  ) async throws {
    var options = RPCOptions()
    change(&options)
    try await ScriptedServer.answering(answer) { server in
      try await body(server.channel(options: options))
    }
  }

  private static let kinds: [RPCCall.Kind] = [.unary, .serverStreaming]

  private func first(_ kind: RPCCall.Kind, of channel: RPCChannel) async throws -> Data? {
    let call = try channel.call(method("X"), kind: kind)
    if kind == .unary { return try await call.response() }
    for try await message in call.messages { return message }
    return nil
  }

  @Test(arguments: [.max, .max - 1, .max - 5, 1 << 40] as [Int], kinds)
  func `if the size limit is very large, each message is accepted`(limit: Int, kind: RPCCall.Kind)
    async throws
  {
    let text = Data(String(repeating: "abc", count: 100).utf8)
    for compression in [RPCCompression.identity, .gzip] {
      let frame = try MessageFrame(text, compression: compression, limit: .max)
      try await withChannel(.grpc(Array(frame.bytes), headers: ["grpc-encoding": "gzip"])) {
        $0.maximumResponseBytes = limit
        $0.maximumRequestBytes = limit
        $0.compression = compression
      } _: { channel in
        let message = try await first(kind, of: channel)
        #expect(message == text)
      }
    }
  }

  @Test(arguments: [.min, -6, -5, -1] as [Int], kinds)
  func `a negative size limit rejects every message`(limit: Int, kind: RPCCall.Kind) async throws {
    for compression in [RPCCompression.identity, .gzip] {
      let frame = try MessageFrame(
        Data(repeating: 7, count: 100), compression: compression, limit: 100)
      try await withChannel(.grpc(Array(frame.bytes), headers: ["grpc-encoding": "gzip"])) {
        $0.maximumResponseBytes = limit
      } _: { channel in
        await rpcFailure(.resourceExhausted) { () async throws(RPCCallError) in
          let call = try channel.call(method("X"), kind: kind)
          if kind == .unary { return try await call.response() }
          return try await call.nextMessage() ?? Data()
        }
      }
    }
  }

  @Test(arguments: [.max, .min, -1, 0] as [Int])
  func `decompression with an extreme size limit succeeds or fails with resourceExhausted`(
    limit: Int
  ) throws {
    let data = Data(repeating: 7, count: 5000)
    let compressed = try #require(Gzip.encode(data))
    if limit == .max {
      #expect(try Gzip.decode(compressed, limit: limit) == data)
    } else {
      rpcFailure(.resourceExhausted) { try Gzip.decode(compressed, limit: limit) }
    }
  }

  /// zlib counts bytes in 32 bits.
  ///
  /// If the buffer were allocated at once, as large as the limit and zlib allow, it would take
  /// 4 GB.
  @Test func `a message of 200 MB is decompressed with the largest size limit`() throws {
    let large = Data(count: 200_000_000)
    let compressed = try #require(Gzip.encode(large))
    #expect(try Gzip.decode(compressed, limit: .max).count == large.count)
  }

  @Test(arguments: [.seconds(Int64.max) * 18, .seconds(Int64.max)] as [Duration])
  func `a call succeeds with a huge time limit and times out with a negative limit`(time: Duration)
    async throws
  {
    try await withChannel(.grpc()) {
      $0.timeout = time
    } _: { channel in
      _ = try await channel.call(method("X")).response()
      let call = try channel.call(method("X"))
      try call.setTimeout(.zero - time)
      await rpcFailure(.deadlineExceeded) { try await call.response() }
    }
  }
}
