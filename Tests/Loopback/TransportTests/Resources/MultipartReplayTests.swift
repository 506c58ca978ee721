import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Multipart forms that are sent again.
@Suite(.timeLimit(.minutes(1))) struct MultipartReplayTests {
  let client = CurlTransport()
  let server: Server

  init() throws {
    server = try Server.answering()
  }

  private func request(_ form: MultipartForm, _ method: String = "POST") throws -> WebRequest {
    var request = try server.request(method)
    try request.setForm(form)
    return request
  }

  @Test func `files, data and restartable streams are the same in each attempt`() async throws {
    let folder = try TemporaryFolder()
    let url = URL(filePath: folder.file("a"))
    try pattern(600_000).write(to: url)
    let request = try request([
      .field("a", "b"), .file("f", url), .data("d", Data(count: 100_000)),
      .stream("s") { OneChunk("abc").next },
    ])
    #expect(request.isReplayable)
    for _ in 0..<2 { _ = try await client.send(request) }
    #expect(server.requests.count == 2)
    #expect(server.requests[0].body == server.requests[1].body)
    #expect(!request.isConsumed)
  }

  @Test func `a one-time stream is sent once and never again`() async throws {
    let request = try request([.stream("live", once: OneChunk("abc").next), .field("a", "b")])
    #expect(!request.isReplayable)
    #expect(!request.isConsumed)
    _ = try await client.send(request)
    #expect(request.isConsumed)
    let connections = Set(server.requests.map(\.peerPort))
    let error = await failure(.bodyNotReplayable) { try await client.send(request) }
    #expect(error?.message.contains("the part live") == true)
    #expect(server.requests.count == connections.count)
  }

  @Test func `a form whose one-time stream was sent cannot be set on a second request`()
    async throws
  {
    let form: MultipartForm = [.stream("live", once: OneChunk("abc").next)]
    _ = try await client.send(try request(form))
    failure(.bodyNotReplayable) { try request(form) }
  }

  @Test func `a sequence of chunks is a one-time stream`() async throws {
    let (chunks, source) = AsyncStream.makeStream(of: Data.self)
    for text in ["a", "", "bc"] { source.yield(Data(text.utf8)) }
    source.finish()
    let request = try request([.stream("live", length: 3, once: chunks)])
    _ = try await client.send(request)
    let body = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
    #expect(body.contains("\r\n\r\nabc\r\n--"))
    #expect(request.isConsumed)
  }

  @Test func `a new body makes a used request replayable`() async throws {
    var request = try request([.stream("live", once: OneChunk("abc").next)])
    _ = try await client.send(request)
    request.body = .bytes(Data("x".utf8))
    #expect(!request.isConsumed)
    #expect(try await client.send(request).status == 200)
  }

  @Test func `of two requests with the same one-time stream, only one is sent`() async throws {
    let form: MultipartForm = [.stream("live", once: OneChunk("abc").next)]
    let requests = [try request(form), try request(form)]
    let outcomes = await withTaskGroup(of: SQOAuthError.Code?.self) { group in
      for request in requests {
        group.addTask {
          do {
            _ = try await client.send(request)
            return nil
          } catch {
            return (error as? SQOAuthError)?.code
          }
        }
      }
      return await group.reduce(into: [SQOAuthError.Code?]()) { $0.append($1) }
    }
    #expect(Set(outcomes) == [nil, .bodyNotReplayable])
    #expect(server.requests.count == 1)
  }

  /// libcurl restarts an idempotent request if its reused connection was closed.
  @Test func `losing a reused connection does not send a one-time stream twice`() async throws {
    // For each form, whether its connection had carried another request before.
    let forms = Locked<[Bool]>([])
    let raw = try RawServer { connection in
      var isReused = false
      // Answers a request that is not a form. Reads part of a form and closes.
      while let (head, _) = connection.readHead() {
        guard head.hasPrefix("PUT ") else {
          connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
          isReused = true
          continue
        }
        forms.withLock { $0.append(isReused) }
        var count = 0
        while count < 100_000 { count += max(1, connection.read().count) }
        return
      }
    }
    defer { raw.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(raw.port)/"))
    // The connections of other tests can push the first connection out of libcurl's cache.
    try await eventually("the form is sent on a reused connection") {
      forms.withLock { $0 = [] }
      _ = try await client.send(WebRequest(url: url))
      let asked = Locked(0)
      var request = WebRequest(method: "PUT", url: url)
      try request.setForm([
        .stream(
          "live",
          once: { () async throws -> Data? in
            let count = asked.withLock { asked in
              asked += 1
              return asked
            }
            return count <= 100 ? Data(count: 50_000) : nil
          })
      ])
      let error = await failure { [request] in try await client.send(request) }
      #expect([.bodyNotReplayable, .connectionFailed].contains(error?.code))
      #expect(request.isConsumed)
      return forms.withLock { $0.first == true }
    }
    #expect(forms.withLock(\.self) == [true])
  }
}
