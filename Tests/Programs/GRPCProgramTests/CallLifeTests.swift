import Foundation
import GRPCValueSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Creating, starting, observing and cancelling a call.
@Suite(.timeLimit(.minutes(2)), .requiresGRPCIO) struct CallLifeTests {
  @Test func `a call is sent once, and only after its start`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      let call = try channel.test("Echo", "made first")
      // If the call above had already been sent, it would arrive before the answer to this call.
      _ = try await channel.test("Measure").response()
      try await server.caughtUp()
      #expect(server.count(of: "Echo") == 0)
      try call.start()
      rpcFailure(.failedPrecondition) { try call.start() }
      #expect(try await call.response().text == "made first")
      #expect(try await call.response().text == "made first")
      rpcFailure(.failedPrecondition) { try call.start() }
      try await server.caughtUp()
      #expect(server.count(of: "Echo") == 1)
    }
  }

  private struct Seen: Decodable {
    let metadata: [[String]]
    let timeRemaining: Double?
    func values(_ name: String) -> [String] { metadata.filter { $0[0] == name }.map { $0[1] } }
  }

  @Test func `request metadata arrives at the server with lower-case names`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("EchoMetadata")
      #expect(call.requestMetadata.isEmpty)
      var metadata = try RPCMetadata(["X-One": "1", "X-Two": "a, b", "x-two": "c"])
      try metadata.set(Data([0, 1, 255, 16]), for: "X-Data-Bin")
      try call.setRequestMetadata(metadata)
      try call.setOAuth2AccessToken("T1")
      try call.setOAuth2AccessToken("T2")
      // The call has its own copy of the metadata.
      metadata.remove("x-one")
      try call.setTimeout(.seconds(30))
      let seen = try JSONDecoder().decode(Seen.self, from: try await call.response())
      #expect(seen.values("x-one") == ["1"] && seen.values("authorization") == ["Bearer T2"])
      #expect(seen.values("x-two").joined(separator: ", ") == "a, b, c")
      #expect(seen.values("x-data-bin") == ["0001ff10"])
      let left = try #require(seen.timeRemaining)
      #expect(left > 0 && left <= 30)
    }
  }

  @Test func `request metadata can be changed until the call starts`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("EchoMetadata")
      call.requestMetadata["Authorization"] = "Bearer T1"
      call.requestMetadata["x-one"] = "1"
      call.requestMetadata["x-two"] = "2"
      call.requestMetadata["X-Two"] = nil
      #expect(call.oauth2AccessToken == "T1")
      try call.start()
      call.requestMetadata["x-late"] = "1"
      let seen = try JSONDecoder().decode(Seen.self, from: try await call.response())
      #expect(seen.values("authorization") == ["Bearer T1"] && seen.values("x-one") == ["1"])
      #expect(seen.values("x-two").isEmpty && seen.values("x-late").isEmpty)
    }
  }

  @Test(arguments: [("grpc-status", "0"), ("x-bin", "text"), ("x", "ä"), ("", "v")])
  func `invalid metadata fails the call before it is sent`(
    name: String, text: String
  ) async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      let call = try channel.test("Echo")
      call.requestMetadata[name] = text
      await rpcFailure(.invalidArgument) { try await call.response() }
      let mended = try channel.test("Measure")
      mended.requestMetadata[name] = text
      mended.requestMetadata[name] = nil
      _ = try await mended.response()
      try await server.caughtUp()
      #expect(server.count(of: "Echo") == 0)
    }
  }

  @Test func `a started call can no longer be changed`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("EchoMetadata")
      try call.start()
      rpcFailure(.failedPrecondition) { try call.setRequestMetadata(RPCMetadata(["x-late": "1"])) }
      rpcFailure(.failedPrecondition) { try call.setOAuth2AccessToken("T") }
      rpcFailure(.failedPrecondition) { try call.setTimeout(.seconds(1)) }
      #expect(try await !call.response().text.contains("x-late"))
      #expect(call.requestMetadata.isEmpty && call.timeout == .seconds(60))
    }
  }

  @Test func `headers and trailers of the answer are available`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Echo")
      try call.setRequestMetadata(RPCMetadata(["x-header": "H", "x-trailer": "T"]))
      _ = try await call.response()
      #expect(call.responseHeaders?["x-header"] == "H")
      #expect(call.responseHeaders?["x-both"] == "header")
      #expect(call.responseTrailers?["x-trailer"] == "T")
      #expect(call.responseTrailers?.bytes(for: "x-trailer-bin") == [Data([0, 1, 255])])
      #expect(call.responseMetadata["x-both"] == "trailer")
    }
  }

  @Test(arguments: [(5, "plain"), (13, "100% ä\nline"), (16, ""), (1, "by the server")])
  func `the error of a failed call has the server's status message and metadata`(
    code: Int, words: String
  ) async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Fail", "\(code) \(words)")
      let error = await rpcFailure(RPCStatus(rawValue: code)) { try await call.response() }
      #expect(error?.message == words && error?.isFromServer == true)
      #expect(error?.metadata == call.responseMetadata)
      #expect(error?.metadata.bytes(for: "x-detail-bin") == [Data([1, 2])])
      #expect(error?.metadata.bytes(for: "grpc-status-details-bin") == [Data("d".utf8)])
    }
  }

  @Test func `an unknown method is reported as unimplemented`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Nothing")
      await rpcFailure(.unimplemented) { try await call.response() }
    }
  }

  // MARK: The end of a call

  @Test func `cancelling ends a call once, in the client and at the server`() async throws {
    try await GRPCServer.running { server in
      let outcomes = Locked<[RPCStatus]>([])
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      let call = try RPCChannel(server).test("Hang", "one")
      // With a time limit the server would end the call itself.
      try call.setTimeout(nil)
      try call.start { result in
        outcomes.withLock { $0.append((try? result.get()) == nil ? call.status ?? .ok : .ok) }
        end.yield()
      }
      try await server.line(after: "HANGS one")
      call.cancel()
      call.cancel()
      #expect(call.status == .cancelled)
      for await _ in ends { break }
      await rpcFailure(.cancelled) { try await call.response() }
      try await server.line(after: "ENDED Hang one")
      #expect(outcomes.withLock(\.self) == [.cancelled])
    }
  }

  @Test func `a call that is cancelled before its start is never sent`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Echo")
      call.cancel()
      rpcFailure(.cancelled) { try call.start() }
      await rpcFailure(.cancelled) { try await call.response() }
      _ = try await RPCChannel(server).test("Measure").response()
      try await server.caughtUp()
      #expect(server.count(of: "Echo") == 0)
    }
  }

  @Test func `cancelling the waiting task cancels the call`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Hang", "task")
      // With a time limit the server would end the call itself.
      try call.setTimeout(nil)
      let task = Task { try await call.response() }
      try await server.line(after: "HANGS task")
      task.cancel()
      await rpcFailure(.cancelled) { try await task.value }
      try await server.line(after: "ENDED Hang task")
    }
  }

  @Test func `the time limit ends the call in the client and at the server`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      // The server reports the end only of calls that it has begun.
      _ = try await channel.test("Measure").response()
      let call = try channel.test("Hang", "time")
      try call.setTimeout(.seconds(5))
      await rpcFailure(.deadlineExceeded) { try await call.response() }
      try await server.line(after: "ENDED Hang time")
      let late = try channel.test("Echo")
      try late.setTimeout(.zero)
      await rpcFailure(.deadlineExceeded) { try await late.response() }
      try await server.caughtUp()
      #expect(server.count(of: "Echo") == 0)
    }
  }

  @Test func `an unreferenced call finishes and is then released`() async throws {
    try await GRPCServer.running { server in
      let (results, result) = AsyncStream.makeStream(of: String.self)
      weak var held: RPCCall?
      do {
        let call = try RPCChannel(server).test("Echo", "alone")
        held = call
        try call.start { result.yield((try? $0.get().text) ?? "failed") }
      }
      for await text in results {
        #expect(text == "alone")
        break
      }
      try await eventually("the call is released") { held == nil }
    }
  }

  @Test func `each uncancelled call gets exactly one result, and each cancelled call at most one`()
    async throws
  {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      let heard = Counts()
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<100 {
          guard let call = try? channel.test("Echo", "\(index)") else { continue }
          group.addTask { try? call.start { _ in heard.add(index) } }
          if index % 3 == 0 { group.addTask { call.cancel() } }
        }
      }
      // If a call is cancelled before it starts, its closure is never called.
      try await eventually("every closure is called") {
        (0..<100).allSatisfy { $0 % 3 == 0 || heard[$0] == 1 }
      }
      _ = try await channel.test("Echo").response()
      #expect((0..<100).allSatisfy { heard[$0] <= 1 })
    }
  }

  private final class Counts: Sendable {
    private let counts = Locked<[Int: Int]>([:])
    func add(_ index: Int) { counts.withLock { $0[index, default: 0] += 1 } }
    subscript(index: Int) -> Int { counts.withLock { $0[index] ?? 0 } }
  }
}
