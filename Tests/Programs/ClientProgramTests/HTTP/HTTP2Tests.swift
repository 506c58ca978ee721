import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// HTTP/2 with nghttp2's server.
@Suite(.timeLimit(.minutes(3)), .requires(ProgramRequirement(programs: ["nghttpd", "openssl"])))
struct HTTP2Tests {
  private func withServer(
    _ options: [String], version: HTTPTransportConfiguration.Version = .automatic,
    large: Int = 3_000_000, _ body: (CurlTransport, URL, Program) async throws -> Void
  ) async throws {
    let certificates = try await Certificates()
    try Data("hello".utf8).write(to: certificates.folder.appending(path: "small"))
    try Data(count: large).write(to: certificates.folder.appending(path: "large"))
    let server = try await Program.serving { port in
      ["nghttpd", "--address=127.0.0.1", "--htdocs=\(certificates.folder.path)", "-v"] + options
        + ["\(port)", certificates.path("server.key"), certificates.path("server.pem")]
    }
    var configuration = HTTPTransportConfiguration.direct
    configuration.additionalAuthorities = try certificates.data("ca.pem")
    configuration.version = version
    try await body(
      CurlTransport(configuration: configuration),
      try #require(URL(string: "https://127.0.0.1:\(server.port)/small")), server)
  }

  private func large(_ url: URL) -> URL {
    url.deletingLastPathComponent().appending(path: "large")
  }

  /// Returns the number of connections on which requests arrived.
  private func connectionCount(_ server: Program) -> Int {
    Set(server.text.matches(of: /\[id=(\d+)\].*recv HEADERS/).map { $0.output.1 }).count
  }

  @Test func `the client sends an HTTP/2 request and receives the response`() async throws {
    try await withServer(["--echo-upload"]) { client, url, _ in
      let request = WebRequest(method: "POST", url: url, body: .bytes(Data("hello".utf8)))
      let response = try await client.send(request)
      #expect(response.status == 200)
      #expect(response.text == "hello")
    }
  }

  @Test func `a request from an HTTP/1.1 client to an HTTP/2 server fails`() async throws {
    try await withServer([], version: .http1) { client, url, server in
      let error = try #require(await failure { try await client.send(WebRequest(url: url)) })
      // Depending on its version, nghttpd ends the connection or the handshake.
      let isAlert = error.code == .tlsFailed && error.message.contains("alert")
      #expect(error.code == .connectionFailed || isAlert, "\(error)")
      #expect(connectionCount(server) == 0)
    }
  }

  @Test(.ownThreads) func `many requests share one connection`() async {
    // A separate process: if an earlier test's server had the same port, each of the first requests
    // would look for that server's connection and then open its own.
    await #expect(processExitsWith: .success) {
      let tests = HTTP2Tests()
      try await tests.withServer([]) { client, url, server in
        for _ in 0..<2 {
          try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<90 {
              group.addTask { try await client.send(WebRequest(url: url)).body.count }
            }
            for try await count in group { try #require(count == 5) }
          }
        }
        try #require(tests.connectionCount(server) == 1)
      }
    }
  }

  @Test func `request bodies from memory and from streams arrive unchanged`() async throws {
    try await withServer(["--echo-upload"]) { client, url, _ in
      for size in [0, 1, 100_000, 2_000_000] {
        let content = pattern(size)
        var request = WebRequest(method: "POST", url: url, body: .bytes(content))
        request.maximumResponseBytes = 10_000_000
        #expect(try await client.send(request).body == content)
        let offset = Locked(0)
        request.body = .stream(length: nil) {
          {
            let start = offset.withLock { offset in
              defer { offset += 70_000 }
              return offset
            }
            return start < size ? content[start..<min(start + 70_000, size)] : nil
          }
        }
        let response = try await client.send(request)
        #expect(response.body == content)
      }
    }
  }

  @Test(.ownThreads)
  func `a slow consumer does not delay other requests, and gets its whole response`() async {
    // A separate process: connections of other tests could push out a kept connection.
    await #expect(processExitsWith: .success) {
      let tests = HTTP2Tests()
      try await tests.withServer([]) { client, url, server in
        let received = Locked(0)
        let isFirst = Locked(true)
        let gate = AsyncStream.makeStream(of: Void.self)
        let started = AsyncStream.makeStream(of: Void.self)
        var request = WebRequest(url: tests.large(url))
        request.maximumResponseBytes = 3_000_000
        request.destination = .stream { _, data in
          received.withLock { $0 += data.count }
          if !data.isEmpty,
            isFirst.withLock({ first in
              defer { first = false }; return first
            })
          {
            started.continuation.yield()
            for await _ in gate.stream { break }
          }
        }
        let slow = request
        async let streamed = client.send(slow)
        for await _ in started.stream { break }
        // Some of the body arrives before the consumer holds the rest back. From then on requests
        // use another connection, because reading their answers would mean storing the body.
        repeat {
          let text = try await client.send(WebRequest(url: url)).text
          try #require(text == "hello")
        } while tests.connectionCount(server) < 2
        gate.continuation.yield()
        let status = try await streamed.status
        try #require(status == 200)
        try #require(received.withLock { $0 } == 3_000_000)
        try #require(tests.connectionCount(server) == 2)
      }
    }
  }

  @Test(.ownThreads)
  func `a response whose frames all arrive at once is returned completely`() async {
    // A separate process: connections of other tests could push out a kept connection.
    await #expect(processExitsWith: .success) {
      // The server sends two DATA frames and the end in one write. libcurl reads them at once,
      // which is more than its default buffer holds.
      let piece = [UInt8](repeating: 120, count: 15_000)
      let usedConnections = Locked(0)
      try await HTTP2Tests().withRawServer { connection, _ in
        var isUsed = false
        while let stream = connection.readRequest() {
          if !isUsed { usedConnections.withLock { $0 += 1 } }
          isUsed = true
          connection.answer(stream, [piece, piece])
        }
      } body: { client, url in
        for _ in 0..<5 {
          let response = try await client.send(WebRequest(url: url))
          try #require(response.body == Data(piece + piece))
        }
        try #require(usedConnections.withLock(\.self) == 1)
      }
    }
  }

  private func withRawServer(
    _ serve: @escaping @Sendable (HTTP2Connection, RawConnection) -> Void,
    body: (CurlTransport, URL) async throws -> Void
  ) async throws {
    let server = try RawServer { raw in
      if let connection = HTTP2Connection(raw) { serve(connection, raw) }
    }
    defer { server.stop() }
    let front = try await TLSFront(before: server)
    try await body(try front.client(), try #require(front.url))
  }

  @Test func `a request that is not idempotent is not repeated when its connection ends`()
    async throws
  {
    let requests = Locked(0)
    try await withRawServer { connection, _ in
      // Answers the first request of a connection, and closes the connection on the second request.
      guard let stream = connection.readRequest() else { return }
      requests.withLock { $0 += 1 }
      connection.answer(stream)
      if connection.readRequest() != nil { requests.withLock { $0 += 1 } }
    } body: { client, url in
      let request = WebRequest(method: "POST", url: url)
      let response = try await client.send(request)
      #expect(response.status == 200)
      await failure(.connectionFailed) { try await client.send(request) }
      #expect(requests.withLock { $0 } == 2)
    }
  }

  @Test func `parallel large responses all complete`() async throws {
    try await withServer([]) { client, url, _ in
      var request = WebRequest(url: large(url))
      request.maximumResponseBytes = 3_000_000
      let large = request
      for _ in 0..<10 {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<4 { group.addTask { try await client.send(large).body.count } }
          for try await count in group { #expect(count == 3_000_000) }
        }
      }
    }
  }

  @Test func `cancelling one request does not affect others on its connection`()
    async throws
  {
    // Much of a large file arrives after its download was cancelled. The SDK limits how many bytes
    // without content a request may receive. It must not count the file's bytes for the upload on
    // the same connection.
    try await withServer(["--echo-upload"], large: 60_000_000) { client, url, server in
      let rounds = 30
      for _ in 0..<rounds {
        // The upload's body is complete only after the download is cancelled, and then the server
        // answers.
        let rest = Gate(isOpen: false)
        let pieces = Locked(["hel", "lo"])
        let isUnderWay = OneShot<Void>()
        var upload = WebRequest(method: "PUT", url: url)
        upload.body = .stream(length: nil) {
          {
            let piece: String? = pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if piece == "lo" { await rest.opened() }
            return piece.map { Data($0.utf8) }
          }
        }
        upload.progress = { if $0.sent > 0 { isUnderWay.resolve(()) } }
        let request = upload
        async let other = client.send(request)
        try await eventually("the other request is sent") { isUnderWay.current != nil }

        var download = WebRequest(url: large(url))
        download.maximumResponseBytes = 60_000_000
        let task = OneShot<Task<WebResponse, any Error>>()
        download.progress = { if $0.received > 0 { task.current?.cancel() } }
        task.resolve(
          Task { [download] in
            // Waits until the progress closure has this task, so that it can cancel the task.
            _ = await task.wait()
            return try await client.send(download)
          })
        await failure(.cancelled) { try await task.wait().value }
        rest.open()
        let text = try await other.text
        #expect(text == "hello")
      }
      // Without a shared connection, each cancellation would close the connection of its request.
      #expect(connectionCount(server) < rounds)
    }
  }
}
