import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Network failures as the caller sees them.
@Suite(.timeLimit(.minutes(3))) struct HTTPFailureTests {
  let client = CurlTransport.shared
  /// How far the clock of ``timed`` is ahead.
  ///
  /// Most of these tests use a time limit of an hour and a server that is silent for two hours.
  let time = TimeLead()
  let timed: CurlTransport

  init() {
    timed = CurlTransport(lead: time)
  }

  @Test func `a request to a closed port fails with the reason in the error`() async throws {
    let port = try ClosedPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/?code=canary"))
    var request = WebRequest(method: "POST", url: url, headers: ["Authorization": "canary"])
    request.body = .bytes(Data("canary".utf8))
    let error = try #require(await failure(.connectionFailed) { try await client.send(request) })
    #expect(error.message.contains("127.0.0.1:\(port.number)"))
    #expect(error.message.contains("Connection refused"))
    #expect((error.cause as? CurlError)?.code == 7)
    #expect(!everyText(of: error).contains("canary"))
  }

  @Test(.ownThreads)
  func `without free file descriptors a request fails, and a later request succeeds`()
    async
  {
    await #expect(processExitsWith: .success) {
      let server = try Server.answering()
      // At its first timer, Dispatch opens files, and crashes if it cannot. It must open them now.
      try await Task.sleep(for: .nanoseconds(1))
      let error = try await Self.withoutDescriptors {
        await failure(.connectionFailed) {
          try await CurlTransport.shared.send(try server.request())
        }
      }
      try #require(error?.message.contains("Too many open files") == true)
      try #require(try await CurlTransport.shared.send(try server.request()).text == "hello")
    }
  }

  /// Runs a body while the process can open no file and no socket.
  private static func withoutDescriptors<Value>(
    _ body: () async throws -> Value
  ) async throws -> Value {
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    try #require(getrlimit(kind, &limit) == 0)
    var none = limit
    // The numbers below are in use, even if the process closes other files meanwhile.
    none.rlim_cur = rlim_t(STDERR_FILENO + 1)
    try #require(setrlimit(kind, &none) == 0)
    defer { setrlimit(kind, &limit) }
    return try await onSerialQueue(body)
  }

  /// To look up a name, libcurl needs descriptors and a thread.
  @Test(.ownThreads, arguments: ["127.0.0.1", "no-such-host.invalid"])
  func `without free file descriptors, the error blames neither the server nor its name`(
    host: String
  ) async {
    await #expect(processExitsWith: .success) { [host] in
      try await Task.sleep(for: .nanoseconds(1))
      let client = CurlTransport(configuration: .direct)
      // Starts the client's event loop.
      let server = try Server.answering()
      try #require(try await client.send(try server.request()).text == "hello")
      let url = try #require(URL(string: "http://\(host):9/"))
      let error = try await Self.withoutDescriptors {
        await failure(.connectionFailed) { try await client.send(WebRequest(url: url)) }
      }
      let words = "the system gives this process no more descriptors, threads or memory: Too many"
      try #require(error?.message.contains(words) == true, "\(error as Any)")
    }
  }

  @Test func `an unknown host is reported as not found`() async throws {
    let client = CurlTransport(configuration: .direct)
    let url = try #require(URL(string: "http://no-such-host.invalid/"))
    let error = await failure(.connectionFailed) { try await client.send(WebRequest(url: url)) }
    #expect((error?.cause as? CurlError)?.code == 6)
  }

  @Test func `a silent server triggers the idle timeout`() async throws {
    let server = try Server.playing([.wait(.seconds(50))])
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    async let failed = failure(.requestTimedOut) { [timed, request] in
      try await timed.send(request)
    }
    try await eventually("the server has the request") { server.requests.count == 1 }
    time.advance(by: .seconds(7200))
    let error = await failed
    #expect(error?.message.contains("silent") == true)
  }

  @Test func `a server that stalls inside a body triggers the idle timeout`() async throws {
    let server = try Server.playing([
      .send(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".utf8)), .wait(.seconds(50)),
    ])
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    request.progress = { [time] in if $0.received == 1 { time.advance(by: .seconds(7200)) } }
    await failure(.requestTimedOut) { try await timed.send(request) }
  }

  @Test func `a server that does not read the body triggers the idle timeout`() async throws {
    let server = try RawServer { connection in
      var last: UInt8 = 0
      // Reads nothing until the client has left.
      while recv(connection.socket, &last, 1, Int32(MSG_PEEK)) > 0 { usleep(10_000) }
    }
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    var request = WebRequest(method: "POST", url: url)
    request.body = .bytes(Data(count: 50_000_000))
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    request.progress = { [time] in if $0.sent > 0 { time.advance(by: .seconds(7200)) } }
    await failure(.requestTimedOut) { try await timed.send(request) }
  }

  @Test func `a steady trickle of bytes prevents the idle timeout`() async throws {
    let server = try DrippingServer(12, after: .seconds(400), on: time)
    defer { server.stop() }
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = .seconds(1000)
    #expect(try await timed.send(request).text == "xxxxxxxxxxxx")
  }

  @Test(arguments: [Duration.zero, .milliseconds(1)])
  func `a request with a timeout of zero or one millisecond times out`(timeout: Duration)
    async throws
  {
    let server = try Server.playing([.wait(.seconds(50))])
    var request = try server.request()
    request.timeout = timeout
    await failure(.requestTimedOut) { try await client.send(request) }
  }

  @Test func `without time limits a slow answer is accepted`() async throws {
    let server = try Server { [time] _, _ in
      time.advance(by: .seconds(1_000_000_000))
      return .response(LoopbackResponse(status: 204))
    }
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = nil
    #expect(try await timed.send(request).status == 204)
  }

  /// Starts a server that answers a connection's first request and closes it at the second one.
  private static func forgetfulServer() throws -> RawServer {
    try RawServer { connection in
      if connection.readHead() != nil {
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        _ = connection.readHead()
      }
    }
  }

  @Test(arguments: ["GET", "PUT", "DELETE"])
  func `an idempotent request is repeated if a reused connection breaks`(
    method: String
  ) async throws {
    let server = try Self.forgetfulServer()
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    let client = CurlTransport()
    // Every request after the first is repeated.
    for _ in 0..<20 {
      #expect(try await client.send(WebRequest(method: method, url: url)).text == "ok")
    }
    #expect(server.connectionCount == 20)
  }

  @Test(.ownThreads, arguments: ["POST", "PATCH"], [0, 10, 100_000])
  func `a request that is not idempotent is never repeated`(method: String, size: Int) async {
    // A separate process: connections of other tests could push out the kept connection.
    await #expect(processExitsWith: .success) { [method = method as String, size = size as Int] in
      let server = try Self.forgetfulServer()
      defer { server.stop() }
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
      let client = CurlTransport()
      try #require(try await client.send(WebRequest(url: url)).text == "ok")
      var request = WebRequest(method: method, url: url)
      request.body = .bytes(Data(count: size))
      await failure(.connectionFailed) { try await client.send(request) }
      try #require(server.connectionCount <= 2)
    }
  }
}
