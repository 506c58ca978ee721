import Foundation
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Bodies that are produced and consumed while they are transferred.
@Suite(.timeLimit(.minutes(3))) struct HTTPStreamTests {
  /// How far the client's clock is ahead.
  ///
  /// The tests set limits of one hour and move the clock by two hours.
  let time = TimeLead()
  let client: CurlTransport

  init() {
    client = CurlTransport(lead: time)
  }

  private struct Stop: Error {}

  /// A source of chunks that counts how often it is asked for one.
  private final class Chunks: Sendable {
    let asked = Locked(0)

    func next(of all: [Data]) -> Data? {
      let index = asked.withLock { asked in
        defer { asked += 1 }
        return asked
      }
      return index < all.count ? all[index] : nil
    }
  }

  @Test(arguments: [nil, 300_003] as [Int64?])
  func `a streamed body arrives complete`(length: Int64?) async throws {
    let server = try Server.answering()
    let chunks = Chunks()
    let parts = [Data("abc".utf8), Data(), Data(count: 100_000), Data(count: 200_000)]
    var request = try server.request("POST")
    request.body = .stream(length: length) { { chunks.next(of: parts) } }
    #expect(try await client.send(request).text == "hello")
    let seen = try #require(server.requests.first)
    #expect(seen.body == parts.reduce(Data(), +))
    #expect(seen.header("content-length") == length.map(String.init))
    #expect(chunks.asked.withLock { $0 } == 5)
  }

  @Test(arguments: [0, 1, 2, 4] as [Int64], [["abc"], ["ab", "", "c"], ["", "a", "b", "c"]])
  func `a body whose length differs from the announced one is an error`(
    length: Int64, parts: [String]
  ) async throws {
    let server = try Server.answering()
    let chunks = Chunks()
    var request = try server.request("POST")
    request.body = .stream(length: length) { { chunks.next(of: parts.map { Data($0.utf8) }) } }
    await failure(.malformedRequest) { try await client.send(request) }
    #expect(server.requests.isEmpty)
  }

  @Test func `an error of the producer ends the request`() async throws {
    let server = try Server.answering()
    var request = try server.request("POST")
    request.body = .stream(length: nil) { { throw Stop() } }
    let error = await failure(.cancelled) { try await client.send(request) }
    #expect(error?.cause is Stop)
    request.body = .stream(length: nil) { { throw SQOAuthError(.notAuthorized, "none") } }
    await failure(.notAuthorized) { try await client.send(request) }
  }

  @Test func `a waiting producer does not trigger the idle timeout`() async throws {
    let server = try Server.answering()
    let chunks = Chunks()
    var request = try server.request("POST")
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    request.body = .stream(length: nil) { [time] in
      {
        let chunk = chunks.next(of: [Data("a".utf8), Data("b".utf8)])
        if chunk == Data("b".utf8) { time.advance(by: .seconds(7200)) }
        return chunk
      }
    }
    #expect(try await client.send(request).text == "hello")
    #expect(server.requests.first?.body == Data("ab".utf8))
  }

  @Test func `a producer that never ends is cancelled with its request`() async throws {
    let server = try Server.answering()
    var request = try server.request("POST")
    request.timeout = .seconds(3600)
    let isCancelled = Locked(false)
    request.body = .stream(length: nil) { [time] in
      {
        time.advance(by: .seconds(7200))
        defer { isCancelled.withLock { $0 = Task.isCancelled } }
        try await Task.sleep(for: .seconds(1000))
        return nil
      }
    }
    await failure(.requestTimedOut) { try await client.send(request) }
    #expect(isCancelled.withLock { $0 })
  }

  @Test func `a consumer gets the head first and then the content in order`() async throws {
    let body = String((0..<200_000).map { _ in "0123456789" }.joined())
    let server = try Server.answering(201, [("X-A", "1")], body)
    let seen = Locked<(heads: Int, first: Int?, bytes: Data)>((0, nil, Data()))
    var request = try server.request()
    request.maximumResponseBytes = 10_000_000
    request.destination = .stream { head, data in
      seen.withLock { seen in
        if seen.first == nil { seen.first = data.count }
        seen.heads += head.status == 201 && head.headers["x-a"] == "1" ? 0 : 1
        seen.bytes += data
      }
    }
    let response = try await client.send(request)
    #expect(response.status == 201)
    #expect(response.body.isEmpty)
    let result = seen.withLock { $0 }
    #expect(result.heads == 0)
    #expect(result.first == 0)
    #expect(result.bytes == Data(body.utf8))
  }

  /// Returns what `ask` reads from the running transfer to a URL, or `nil` if no transfer runs.
  static func transfer<Answer: Sendable>(
    to url: URL, _ ask: (CurlTransfer) -> Answer
  ) throws -> Answer? {
    try CurlEventLoop.shared.get().multi.withLock { multi in
      multi.active.first { $0.request.url == url }.map(ask)
    }
  }

  @Test func `a slow consumer slows the server down and does not trigger the idle timeout`()
    async throws
  {
    let sent = Locked(0)
    let server = try RawServer { connection in
      guard connection.readHead() != nil else { return }
      connection.probeOften()
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
      let piece = [UInt8](repeating: 120, count: 100_000)
      for _ in 0..<1000 {
        let count = piece.withUnsafeBytes {
          send(connection.socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return }
        sent.withLock { $0 += count }
      }
    }
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    var request = WebRequest(url: url)
    request.maximumResponseBytes = 100_000_000
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    let received = Locked(0)
    let largestLead = Locked(0)
    request.destination = .stream { [time] _, data in
      let count = received.withLock {
        $0 += data.count
        return $0
      }
      if count == 0 {
        try await eventually("libcurl reads no more") {
          try Self.transfer(to: url) { $0.clock.isWaitingForReader } == true
        }
        time.advance(by: .seconds(7200))
      }
      largestLead.withLock { $0 = max($0, sent.withLock { $0 } - count) }
    }
    await #expect(throws: Never.self, "\(sent.withLock { $0 }) bytes were sent") {
      try await client.send(request)
    }
    #expect(received.withLock { $0 } == 100_000_000)
    // The buffers of the sockets and of the SDK hold this much. Linux lets a receive buffer grow to
    // 32 MiB.
    #expect(largestLead.withLock { $0 } < 50_000_000)
  }

  @Test func `bytes that arrived before the server went silent are delivered`() async throws {
    let server = try Server.playing([
      .send(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".utf8)), .wait(.seconds(50)),
    ])
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    let received = Locked(Data())
    let hasArrived = OneShot<Void>()
    request.progress = { if $0.received == 1 { hasArrived.resolve(()) } }
    request.destination = .stream { [time, url = request.url] _, data in
      received.withLock { $0 += data }
      // The first call passes only the head. When the call with the content comes, the request has
      // ended.
      guard data.isEmpty else { return }
      _ = await hasArrived.value()
      time.advance(by: .seconds(7200))
      try await eventually("the request ends") { try Self.transfer(to: url) { _ in } == nil }
    }
    await failure(.requestTimedOut) { try await client.send(request) }
    #expect(received.withLock { $0 } == Data("x".utf8))
  }

  @Test func `a server that stalls a stream triggers the idle timeout`() async throws {
    let server = try Server.playing([
      .send(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".utf8)), .wait(.seconds(50)),
    ])
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    request.destination = .stream { [time] _, data in
      if !data.isEmpty { time.advance(by: .seconds(7200)) }
    }
    await failure(.requestTimedOut) { try await client.send(request) }
  }

  /// Returns a server whose response never ends.
  private func endlessServer() throws -> Server {
    try .playing([
      .send(Data("HTTP/1.1 200 OK\r\n\r\n".utf8)), .sendForever(Data(repeating: 120, count: 4096)),
    ])
  }

  @Test func `an error of the consumer ends the request`() async throws {
    let server = try endlessServer()
    var request = try server.request()
    request.maximumResponseBytes = .max
    request.destination = .stream { _, data in if !data.isEmpty { throw Stop() } }
    let error = await failure(.cancelled) { try await client.send(request) }
    #expect(error?.cause is Stop)
    request.destination = .stream { _, _ in throw SQOAuthError(.invalidResponse, "no") }
    await failure(.invalidResponse) { try await client.send(request) }
  }

  @Test func `a streamed response has a size limit`() async throws {
    let server = try endlessServer()
    var request = try server.request()
    request.destination = .stream { _, _ in }
    await failure(.responseTooLarge) { try await client.send(request) }
  }

  @Test func `a cancellation ends a response whose content is being streamed`() async throws {
    let server = try endlessServer()
    let streams = OneShot<Void>()
    var request = try server.request()
    request.maximumResponseBytes = .max
    request.destination = .stream { _, data in
      if !data.isEmpty { streams.resolve(()) }
    }
    let streaming = request
    let task = Task { try await client.send(streaming) }
    _ = await streams.value()
    task.cancel()
    await failure(.cancelled) { try await task.value }
  }

  @Test func `a request body and its response can be streamed at the same time`() async throws {
    // The server echoes each chunk as it arrives.
    let server = try RawServer { connection in
      guard let (_, rest) = connection.readHead() else { return }
      connection.write("HTTP/1.1 200 OK\r\n\r\n" + String(decoding: rest, as: UTF8.self))
      while true {
        let bytes = connection.read()
        connection.write(String(decoding: bytes, as: UTF8.self))
        if bytes.isEmpty || String(decoding: bytes, as: UTF8.self).hasSuffix("0\r\n\r\n") { return }
      }
    }
    defer { server.stop() }
    let echo = AsyncStream.makeStream(of: Void.self)
    let steps = Locked(0)
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    var request = WebRequest(method: "POST", url: url)
    request.body = .stream(length: nil) {
      {
        let step = steps.withLock {
          $0 += 1
          return $0
        }
        // The second chunk is produced only after the first has come back.
        if step == 2 { for await _ in echo.stream { break } }
        return step < 3 ? Data("chunk\(step)".utf8) : nil
      }
    }
    let text = Locked("")
    request.destination = .stream { _, data in
      let sofar = text.withLock {
        $0 += String(decoding: data, as: UTF8.self)
        return $0
      }
      if sofar.contains("chunk1") { echo.continuation.yield() }
    }
    _ = try await client.send(request)
    #expect(text.withLock { $0 }.contains("chunk2"))
  }
}
