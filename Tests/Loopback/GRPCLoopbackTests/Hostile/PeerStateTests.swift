import Foundation
import GRPCValueSupport
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// When connections to a server begin and end, and what the client remembers between them.
@Suite(.timeLimit(.minutes(1))) struct PeerStateTests {
  /// Creates a connection that receives `bytes` once.
  ///
  /// The connection's output is dropped, or stays unsent if `refusal` is given.
  private static func connection(
    _ bytes: [UInt8], refusing refusal: SocketIO.Outcome? = nil
  ) throws -> RPCConnection {
    let wire = GivenBytes(bytes, refusing: refusal)
    let connection = try RPCConnection(
      wire, host: "127.0.0.1", authority: "127.0.0.1:1", keepAlive: .seconds(60))
    if refusal == nil { connection.flush() }
    return connection
  }

  static func stream(deadline: UInt64 = .max) -> RPCStream {
    RPCStream(
      HeaderBlock([":method": "POST", ":scheme": "http", ":path": "/a/b"]),
      content: .message(Data(count: 5)), limit: 100, inbox: nil, deadline: deadline
    ) { _ in }
  }

  @Test func `after a failed connection, no new connection is scheduled if no call waits`() {
    var state = RPCPeer.State()
    state.opening.failed(nil, at: 0)
    state.check(at: Monotonic.now())
    #expect(state.nextCheck == .max && state.isIdle)
  }

  @Test func `a call's time limit applies after the pause that follows a failed connection`()
    async throws
  {
    // The first connection fails, so the second starts after a pause and then gets no answer.
    try await HostileServer.running({ $0 == 0 ? [.close] : [.preface] }) { server in
      let channel = try server.channel()
      await rpcFailure(.unavailable) { try await channel.test("X").response() }
      for _ in 0..<2 {
        let call = try channel.test("X")
        try call.setTimeout(.seconds(3))
        await rpcFailure(.deadlineExceeded) { try await call.response() }
      }
      try await eventually("the second connection") { server.connectionCount == 2 }
    }
  }

  @Test func `after a server rejects pings as too frequent, the client pings less often`() throws {
    var state = RPCPeer.State()
    let calm = Bytes.goAway(last: 0, code: 11, [UInt8]("too_many_pings".utf8))
    let first = try Self.connection(Bytes.start + calm)
    let before = first.pulse.interval
    state.current = first
    while first.read() {}
    state.settle()
    #expect(state.current == nil && state.pingInterval == 2 * before)
  }

  @Test func `a waiting call fails after five connections that begin with GOAWAY`() throws {
    var state = RPCPeer.State()
    let stream = Self.stream()
    for index in 1...5 {
      if index == 1 { state.waiting = [stream] }
      #expect(state.waiting.count == 1)
      let connection = try Self.connection(Bytes.start + Bytes.goAway(last: 0))
      while connection.read() {}
      state.current = connection
      state.settle()
      #expect(state.current == nil)
    }
    #expect(state.waiting.isEmpty && state.ended.count == 1)
    #expect(throws: RPCCallError.self) { try stream.result?.get() }
  }

  @Test func `a connection that can start no stream is closed before it fills the memory`() throws {
    let connection = try Self.connection(Bytes.settings((3, 0)) + Bytes.settingsAcknowledgement)
    while connection.read() {}
    for _ in 0..<1000 {
      let stream = Self.stream()
      #expect(!connection.isDraining && connection.begin(stream, at: Monotonic.now()))
      connection.flush()
      connection.end(stream, .cancelled)
      connection.flush()
    }
    #expect(connection.isDraining && connection.failure != nil)
  }

  /// The server allows one stream, which may last for hours.
  @Test func `after GOAWAY, a call that waits for a free stream moves to another connection`()
    throws
  {
    let wire = GivenBytes(
      Bytes.settings((3, 1)) + Bytes.settingsAcknowledgement, refusing: nil)
    let connection = try RPCConnection(
      wire, host: "127.0.0.1", authority: "127.0.0.1:1", keepAlive: nil)
    while connection.read() {}
    let (long, waiting) = (Self.stream(), Self.stream())
    for stream in [long, waiting] { #expect(connection.begin(stream, at: Monotonic.now())) }
    connection.flush()
    #expect(long.isSent && !waiting.isSent)
    wire.rest = Bytes.goAway(last: .max >> 1)[...]
    while connection.read() {}
    #expect(connection.moved.map { $0 === waiting } == [true])
    #expect(long.result == nil && waiting.result == nil && connection.failure == nil)
    // When the stream ends, the connection must not begin the moved call.
    wire.rest = Bytes.answer()[...]
    while connection.read() {}
    connection.flush()
    #expect(!waiting.isSent && connection.failure != nil)
  }

  @Test func `a connection with too many unsent calls lets the next ones go`() throws {
    let connection = try Self.connection(Bytes.settings((3, 0)) + Bytes.settingsAcknowledgement)
    while connection.read() {}
    let waiting = Self.stream()
    #expect(connection.begin(waiting, at: Monotonic.now()))
    for _ in 0..<1000 {
      let stream = Self.stream()
      #expect(connection.begin(stream, at: Monotonic.now()))
      connection.end(stream, .cancelled)
    }
    #expect(connection.isDraining && connection.moved.map { $0 === waiting } == [true])
  }

  @Test func `an answer that arrived before the connection broke is kept`() throws {
    let connection = try Self.connection(
      Bytes.start + Bytes.answer([1, 2, 3]), refusing: .failed(errno: EPIPE))
    let (answered, other) = (Self.stream(), Self.stream())
    for stream in [answered, other] { #expect(connection.begin(stream, at: Monotonic.now())) }
    connection.flush()
    #expect(try answered.result?.get().frames.first?.content == Data([1, 2, 3]))
    #expect(connection.failure?.message.contains("broke: ") == true)
    let error = #expect(throws: RPCCallError.self) { _ = try other.result?.get() }
    #expect(error?.status == .unavailable)
  }

  @Test func `a protocol error of the server ends a connection even if nothing can be sent`() throws
  {
    let bytes = Bytes.start + Bytes.reset(8, stream: 0)
    let connection = try Self.connection(bytes, refusing: .wait)
    connection.flush()
    #expect(!connection.read())
    #expect(connection.failure?.message.contains("does not keep to HTTP/2") == true)
  }

  @Test func `a call with too much metadata is not sent and does not affect other calls`()
    async throws
  {
    try await HostileServer.running({ _ in .good }) { server in
      let channel = try server.channel()
      let call = try channel.test("X")
      try call.setRequestMetadata(
        RPCMetadata(["x-large": String(repeating: "a", count: 70_000)]))
      let error = await rpcFailure(.resourceExhausted) { try await call.response() }
      #expect(error?.message.contains("metadata") == true)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1 && server.log().counts[.headers] == 1)
    }
  }
}

/// A network connection that delivers bytes once.
///
/// It accepts all bytes that the client sends or, if `refusal` is given, none.
final class GivenBytes: Wire {
  let socket: Int32 = -1
  let context: OpaquePointer? = nil
  /// The bytes that the client has not received yet.
  var rest: ArraySlice<UInt8>
  /// The bytes that the client has sent.
  private(set) var sent: [UInt8] = []
  private let refusal: SocketIO.Outcome?

  init(_ bytes: [UInt8], refusing refusal: SocketIO.Outcome?) {
    rest = bytes[...]
    self.refusal = refusal
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketIO.Outcome {
    let next = rest.prefix(buffer.count)
    if next.isEmpty { return .wait }
    buffer.copyBytes(from: next)
    rest = rest.dropFirst(next.count)
    return .bytes(next.count)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> SocketIO.Outcome {
    if let refusal { return refusal }
    sent += bytes
    return .bytes(bytes.count)
  }

  func watch(isWriting: Bool) {}
}
