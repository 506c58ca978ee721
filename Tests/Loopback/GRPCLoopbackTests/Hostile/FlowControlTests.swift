import Foundation
import GRPCValueSupport
import SQBasics
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Servers that read nothing, open no window or send too much (RFC 9113, section 5.2).
@Suite(.timeLimit(.minutes(1))) struct FlowControlTests {
  @Test func `a request waits for the server's window until its time limit`() async throws {
    try await HostileServer.once(.afterRequest()) { server in
      let channel = try server.channel()
      let call = try channel.call(method("X"), request: Data(count: 1 << 20))
      try call.setTimeout(.seconds(5))
      await rpcFailure(.deadlineExceeded) { try await call.response() }
      try await eventually("the server gets the reset") { server.log().reset() == 8 }
      #expect(server.log().content == 65_535)
    }
  }

  @Test func `a request that waits for the server's window can be cancelled`() async throws {
    // A window of 0 is valid, and so is a setting that makes it negative.
    let closed = Bytes.settings((4, 0))
    try await HostileServer.once([.preface, .send(closed), .wait(.headers)]) { server in
      let channel = try server.channel()
      let call = try channel.call(method("X"), request: Data(count: 1 << 20))
      try call.start()
      try await eventually("the call is sent") { server.log().counts[.headers] == 1 }
      call.cancel()
      await rpcFailure(.cancelled) { try await call.response() }
      try await eventually("the server gets the reset") { server.log().reset() == 8 }
    }
  }

  /// The default options give a stream no time limit, so nothing else would end the call.
  @Test func `cancelling a send whose message is partly sent ends the call`() async throws {
    try await HostileServer.once(.afterRequest()) { server in
      let call = try server.channel().test("X", kind: .clientStreaming)
      let sending = Task {
        await rpcFailure(.cancelled) { try await call.send(Data(count: 1 << 20)) }
      }
      try await eventually("the server's window is full") { server.log().content == 65_535 }
      let waiting = Task.startingHere {
        await rpcFailure(.cancelled) { try await call.send(Data(count: 1)) }
      }
      sending.cancel()
      _ = await (sending.value, waiting.value)
      await rpcFailure(.cancelled) { try await call.response() }
      try await eventually("the server gets the reset") { server.log().reset() == 8 }
    }
  }

  @Test func `cancelling a send whose message still waits lets the call continue`() async throws {
    try await HostileServer.once(.afterRequest()) { server in
      let call = try server.channel().test("X", kind: .clientStreaming)
      let first = Task { try await call.send(Data(count: 1 << 20)) }
      try await eventually("the server's window is full") { server.log().content == 65_535 }
      let second = Task.startingHere {
        await rpcFailure(.cancelled) { try await call.send(Data(count: 1)) }
      }
      // The second message is in the queue now.
      second.cancel()
      _ = await second.value
      #expect(call.status == nil)
      call.cancel()
      await rpcFailure(.cancelled) { try await first.value }
    }
  }

  @Test func `a request is sent in parts as the window opens`() async throws {
    // The answer to a first call shows that the client has read the setting.
    let start: [Step] = [
      .preface, .send(Bytes.settings((4, 0)) + Bytes.settingsAcknowledgement), .wait(.headers),
      .send(Bytes.windowUpdate(5, stream: 1)), .wait(.data), .send(Bytes.answer()),
      .wait(.headers, stream: 3),
    ]
    let sizes = (1...100).map { $0 % 10 + 1 }
    let parts = sizes.flatMap { size -> [Step] in
      [.send(Bytes.windowUpdate(UInt32(size), stream: 3)), .wait(.data, stream: 3)]
    }
    let rest = Step.send(Bytes.windowUpdate(1000, stream: 3))
    try await HostileServer.once(start + parts + [rest]) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response().isEmpty)
      let call = try channel.call(method("X"), request: Data(count: 1000))
      try call.start()
      try await eventually("both requests have arrived") { server.log().content == 5 + 1005 }
      let frames = server.log().frames.filter { $0.kind == .data && $0.stream == 3 }
      #expect(frames.prefix(sizes.count).map(\.payload.count) == sizes)
      call.cancel()
    }
  }

  @Test func `after SETTINGS that allow no streams, no further stream opens`() async throws {
    try await HostileServer.once([.preface, .send(Bytes.settings((3, 0)))]) { server in
      let channel = try server.channel()
      let first = try channel.test("X")
      try first.setTimeout(.seconds(1))
      await rpcFailure(.deadlineExceeded) { try await first.response() }
      let second = try channel.test("X")
      try second.setTimeout(.milliseconds(100))
      await rpcFailure(.deadlineExceeded) { try await second.response() }
      #expect(server.log().counts[.headers] ?? 0 <= 1)
    }
  }

  /// Returns DATA frames, each with one message of 1000 bytes.
  private static func messages(_ count: Int) -> [UInt8] {
    [UInt8](
      repeatElement(Bytes.data(Bytes.message([UInt8](repeating: 7, count: 1000))), count: count)
        .joined())
  }

  @Test func `a call fails if the server exceeds the flow-control window`() async throws {
    let bytes = Bytes.head() + Self.messages(400)
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      let call = try channel.test("X", kind: .serverStreaming)
      try call.start()
      try await eventually("the call ends") { call.status != nil }
      let error = await rpcFailure(.internal) { for try await _ in call.messages {} }
      #expect(error?.message.contains("FLOW_CONTROL_ERROR") == true)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1 && server.log().reset() == 3)
    }
  }

  @Test func `a full window of messages is kept for a slow reader`() async throws {
    let bytes = Bytes.head() + Self.messages(260) + Bytes.trailers()
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let call = try server.channel().test("X", kind: .serverStreaming)
      try call.start()
      try await eventually("the whole response has arrived") { call.status != nil }
      var count = 0
      for try await message in call.messages { count += message.count }
      #expect(count == 260_000 && call.status == .ok)
    }
  }

  @Test func `padding is treated as read and reopens the flow-control window`() async throws {
    // Each frame has one byte of content and 255 of padding: a megabyte in all for one message.
    let message = Bytes.message([UInt8](repeating: 7, count: 4000))
    let padding = [UInt8](repeating: 0, count: 255)
    let parts = stride(from: 0, to: message.count, by: 600).flatMap { start -> [Step] in
      let part = message[start..<min(start + 600, message.count)]
      let frames = part.flatMap { Bytes.data([255, $0] + padding, .padded) }
      return [.send(frames), .wait(.windowUpdate, stream: 1)]
    }
    let start = [Step].afterRequest(.send(Bytes.head())).dropLast()
    try await HostileServer.once(start + parts.dropLast() + [.send(Bytes.trailers())]) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response().count == 4000)
      #expect(server.connectionCount == 1)
    }
  }

  /// Frames that open every window to its maximum.
  private static let openWindows =
    Bytes.settings((4, 1 << 31 - 1)) + Bytes.windowUpdate(1 << 31 - 1 - 65_535)

  /// Sends messages of 1 MB to a server that does not read, until `send` waits.
  private func fill(_ call: RPCCall) async throws -> (task: Task<Void, Never>, count: Int) {
    let count = Locked(0)
    let task = Task {
      while (try? await call.send(Data(count: 1 << 20))) != nil { count.withLock { $0 += 1 } }
    }
    var last = 0
    var unchanged = 0
    try await eventually("the call waits") {
      let now = count.withLock(\.self)
      unchanged = now == last && now > 0 ? unchanged + 1 : 0
      last = now
      return unchanged > 30
    }
    return (task, last)
  }

  @Test func `a server that does not read makes the client stop sending`() async throws {
    let gate = Gate(isOpen: false)
    defer { gate.open() }
    let steps: [Step] = [.preface, .send(Self.openWindows), .wait(.headers), .pass(gate)]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      let call = try channel.test("X", kind: .clientStreaming)
      try call.start()
      let (task, count) = try await fill(call)
      // The system buffers some messages in the two sockets.
      #expect(count < 40)
      call.cancel()
      await rpcFailure(.cancelled) { try await call.response() }
      await task.value
    }
  }

  @Test
  func `if a server that does not read breaks a rule, the client closes the connection at once`()
    async throws
  {
    let (gate, hold) = (Gate(isOpen: false), Gate(isOpen: false))
    defer {
      gate.open()
      hold.open()
    }
    let steps: [Step] = [
      .preface, .send(Self.openWindows), .wait(.headers), .pass(gate),
      .send(Bytes.reset(8, stream: 0)), .pass(hold),
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      let call = try channel.test("X", kind: .clientStreaming)
      try call.setTimeout(nil)
      try call.start()
      let (task, _) = try await fill(call)
      gate.open()
      let error = await rpcFailure(.unavailable) { try await call.response() }
      #expect(error?.message.contains("does not keep to HTTP/2") == true)
      await task.value
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
    }
  }
}
