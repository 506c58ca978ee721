import Foundation
import GRPCValueSupport
import SQBasics
import SQHTTP2
import SequencingOAuth
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// The content of requests whose answers begin, or whose calls end, before the content was sent.
@Suite(.timeLimit(.minutes(1))) struct RequestContentTests {
  /// A message in which no two places look alike, so that a gap or a repetition shows.
  private static func message(_ count: Int) -> Data {
    Data((0..<count / 4).flatMap { Bytes.number(UInt32($0)) })
  }

  /// The initial window of a stream (RFC 9113, section 6.9.2).
  private static let window = 65_535

  @Test func `a message goes on where it stopped after the head of its answer`() async throws {
    let message = Self.message(200_000)
    let more = Bytes.windowUpdate(1 << 20) + Bytes.windowUpdate(1 << 20, stream: 1)
    let steps: [Step] = [
      .preface, .send(Bytes.start), .content(Self.window), .send(Bytes.head() + more),
      .requestEnd(), .send(Bytes.data(Bytes.message([7])) + Bytes.trailers()),
    ]
    try await HostileServer.once(steps) { server in
      let call = try server.channel().call(method("X"), request: message)
      #expect(try await call.response() == Data([7]))
      #expect(server.log().contentStart == Bytes.message([UInt8](message)))
    }
  }

  @Test func `messages that are sent again are complete after the head of the answer`()
    async throws
  {
    let message = Self.message(100_000)
    let all = message.count + 5
    let wide = Bytes.settings((4, 1 << 20)) + Bytes.windowUpdate(1 << 20)
    let narrow = Bytes.settings((4, UInt32(Self.window)))
    let more = Bytes.windowUpdate(1 << 20, stream: 3)
    let steps: [Step] = [
      .preface, .send(wide + Bytes.settingsAcknowledgement), .content(all),
      // The server refuses the call, and allows only a part of it on the next stream.
      .send(narrow + Bytes.reset(7)), .content(all + Self.window),
      .send(Bytes.head(stream: 3) + more), .requestEnd(stream: 3),
      .send(Bytes.data(Bytes.message([7]), stream: 3) + Bytes.trailers(stream: 3)),
    ]
    try await HostileServer.once(steps) { server in
      let call = try server.channel().test("X", kind: .clientStreaming)
      try await call.send(message)
      try call.finishSending()
      #expect(try await call.response() == Data([7]))
      let once = Bytes.message([UInt8](message))
      #expect(server.log().contentStart == once + once)
    }
  }

  @Test func `a sender gets the refusal that came while it waited for the server's window`()
    async throws
  {
    let refusal = Bytes.headers(
      [
        ":status": "200", "content-type": "application/grpc", "grpc-status": "16",
        "www-authenticate": #"Bearer error="invalid_token""#,
      ], [.endHeaders, .endStream])
    let steps: [Step] = [
      .preface, .send(Bytes.start), .content(Self.window), .send(refusal),
    ]
    try await HostileServer.once(steps) { server in
      let call = try server.channel().test("X", kind: .clientStreaming)
      let error = await rpcFailure(.unauthenticated) { try await call.send(Data(count: 1 << 20)) }
      #expect(error?.oauth2ChallengeHeader == #"Bearer error="invalid_token""#)
    }
  }

  @Test func `after finishSending, an error says that no message can be sent`() async throws {
    try await HostileServer.once([.preface, .send(Bytes.start)]) { server in
      let call = try server.channel().test("X", kind: .clientStreaming)
      try call.finishSending()
      let error = await rpcFailure(.failedPrecondition) { try await call.send(Data(count: 1)) }
      #expect(error?.message.contains("finishSending was called before") == true)
      call.cancel()
      await rpcFailure(.cancelled) { try await call.response() }
      await rpcFailure(.cancelled) { try await call.send(Data(count: 1)) }
    }
  }

  // MARK: The end of a cancelled request

  /// The end of a request tells the server that it has all messages.
  @Test(arguments: [false, true])
  func `a cancelled request is reset and never ends like a complete one`(isFinished: Bool)
    async throws
  {
    let outbox = MessageOutbox()
    let wire = GivenBytes(Bytes.start, refusing: nil)
    let connection = try RPCConnection(
      wire, host: "127.0.0.1", authority: "127.0.0.1:1", keepAlive: nil)
    while connection.read() {}
    let stream = RPCStream(
      HeaderBlock([":method": "POST", ":scheme": "http", ":path": "/a/b"]),
      content: .outbox(outbox), limit: 100, inbox: nil, deadline: .max
    ) { _ in }
    #expect(connection.begin(stream, at: Monotonic.now()))
    connection.flush()

    let queued = Gate(isOpen: false)
    outbox.whenFilled { queued.open() }
    let sender = Task { await outbox.send(Data(count: 10)) {} }
    await queued.opened()
    if isFinished { outbox.finish() }
    outbox.close()
    #expect(await sender.value == .closed)
    connection.session?.resume(stream.id)
    connection.flush()
    connection.end(stream, .cancelled)
    connection.flush()
    let frames = Self.frames(wire.sent.dropFirst(Bytes.preface.count)).filter { $0.stream != 0 }
    #expect(frames.map(\.kind) == [.headers, .reset])
    #expect(frames.allSatisfy { !$0.flags.contains(.endStream) })
  }

  private static func frames(
    _ bytes: ArraySlice<UInt8>
  ) -> [(kind: Bytes.Kind?, flags: Bytes.Flags, stream: UInt32)] {
    var (frames, rest) = ([(kind: Bytes.Kind?, flags: Bytes.Flags, stream: UInt32)](), bytes)
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      frames.append(
        (
          Bytes.Kind(rawValue: head[3]), Bytes.Flags(rawValue: head[4]),
          head.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
        ))
      rest = rest.dropFirst(9 + length)
    }
    return frames
  }
}
