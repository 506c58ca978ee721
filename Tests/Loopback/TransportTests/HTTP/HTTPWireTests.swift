import Foundation
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Servers whose framing announces or sends far more than its content.
@Suite(.timeLimit(.minutes(2))) struct HTTPWireTests {
  enum Destination: CaseIterable, Sendable {
    case memory
    case file
    case stream
  }

  let client = CurlTransport()

  /// Returns a request that accepts any amount of content for one of three destinations.
  private func request(
    _ url: URL, to destination: Destination, in folder: TemporaryFolder
  ) -> WebRequest {
    var request = WebRequest(url: url)
    request.maximumResponseBytes = .max
    request.timeout = .seconds(30)
    switch destination {
    case .memory: break
    case .file: request.destination = .file(URL(filePath: folder.file("file")))
    case .stream: request.destination = .stream { _, _ in }
    }
    return request
  }

  @Test(
    arguments: ["9223372036854775808", "99999999999999999999999"], Destination.allCases)
  func `a Content-Length beyond signed 64-bit integers is rejected`(
    length: String, destination: Destination
  ) async throws {
    let server = try Server.saying("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nshort")
    let folder = try TemporaryFolder()
    let request = request(try server.url(), to: destination, in: folder)
    await failure(.responseTooLarge) { try await client.send(request) }
  }

  @Test(arguments: ["5000000000000", "9223372036854775807"], Destination.allCases)
  func `a huge Content-Length is accepted, and a shorter response fails`(
    length: String, destination: Destination
  ) async throws {
    let server = try Server.saying("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nshort")
    let folder = try TemporaryFolder()
    let request = request(try server.url(), to: destination, in: folder)
    await failure(.connectionFailed) { try await client.send(request) }
  }

  @Test(
    arguments: [
      "Content-Length: 5abc", "Content-Length: +5", "Content-Length: 0x5", "Content-Length: 5 5",
      "Content-Length: 5, 6", "Content-Length: 5,", "Content-Length: 5\r\nContent-Length: 3",
      "Content-Length: -5", "Content-Length:",
    ], [Destination.memory, .stream])
  func `a malformed or ambiguous Content-Length is rejected`(
    fields: String, destination: Destination
  ) async throws {
    let server = try Server.saying("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nshort")
    let folder = try TemporaryFolder()
    let request = request(try server.url(), to: destination, in: folder)
    await failure(.invalidResponse) { try await client.send(request) }
  }

  @Test(arguments: ["Content-Length: 5, 5", "Content-Length: 5\r\ncontent-length: 5"])
  func `a Content-Length that is repeated with the same value is accepted`(fields: String)
    async throws
  {
    let server = try Server.saying("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nshort")
    #expect(try await client.send(try server.request()).text == "short")
  }

  @Test(arguments: ["HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX: "])
  func `the error of a response head with an overlong line names the limit of 100 kB`(start: String)
    async throws
  {
    let line = String(repeating: "x", count: 200_000)
    let server = try Server.saying("\(start)\(line)\r\nContent-Length: 0\r\n\r\n")
    let error = await failure(.responseTooLarge) { try await client.send(try server.request()) }
    #expect(error?.message.contains("sent a line of more than 100 kB") == true)
  }

  /// Bytes that a server repeats endlessly after its head.
  struct Flood: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let head: String
    var start: [UInt8] = []
    let block: [UInt8]
  }

  private static let floods = [
    Flood(
      testDescription: "one chunk extension", head: "Transfer-Encoding: chunked",
      start: Array("5;".utf8), block: [UInt8](repeating: 0x78, count: 65_536)),
    Flood(
      testDescription: "an extension to every byte", head: "Transfer-Encoding: chunked",
      block: Array("1;\(String(repeating: "x", count: 30_000))\r\ny\r\n".utf8)),
    Flood(
      testDescription: "empty blocks of gzip", head: "Content-Encoding: gzip",
      start: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3],
      block: Array(repeatElement([0, 0, 0, 0xFF, 0xFF], count: 13_000).joined())),
  ]

  @Test(arguments: floods, Destination.allCases)
  func `a flood of chunk extensions or empty gzip blocks ends the request`(
    flood: Flood, destination: Destination
  ) async throws {
    let sent = Locked(0)
    let server = try RawServer { connection in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\n\(flood.head)\r\n\r\n")
      connection.write(flood.start)
      while connection.isWritten(flood.block) { sent.withLock { $0 += flood.block.count } }
    }
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    let folder = try TemporaryFolder()
    let request = request(url, to: destination, in: folder)
    let error = await failure(.responseTooLarge) { try await client.send(request) }
    #expect(error?.status == 200)
    // The count includes what libcurl reads before its first callback and what the system buffers.
    #expect(sent.withLock(\.self) < 400 << 20)
  }

  @Test(arguments: Destination.allCases)
  func `chunks of one byte are not treated as a flood`(destination: Destination) async throws {
    let count = 300_000
    let server = try RawServer { connection in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for _ in 0..<(count / 1000) {
        connection.write(Array(repeatElement("1\r\nx\r\n", count: 1000).joined().utf8))
      }
      connection.write("0\r\n\r\n")
      while !connection.read().isEmpty {}
    }
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    let folder = try TemporaryFolder()
    var request = request(url, to: destination, in: folder)
    // A busy machine needs more time for so many chunks.
    request.timeout = .seconds(110)
    let received = Locked(0)
    if destination == .stream {
      request.destination = .stream { _, data in received.withLock { $0 += data.count } }
    }
    let body = try await client.send(request).body
    let length =
      switch destination {
      case .memory: body.count
      case .file: try Data(contentsOf: URL(filePath: folder.file("file"))).count
      case .stream: received.withLock(\.self)
      }
    #expect(length == count)
  }

  /// Any value that an app can set works.
  @Test(
    arguments: [.max, .min, -1] as [Int64],
    [.seconds(Int64.max) * 18, .seconds(Int64.max), .seconds(86_400 * 365 * 200)] as [Duration])
  func `a request accepts extreme size and time limits`(bytes: Int64, time: Duration) async throws {
    let server = try Server.saying("HTTP/1.1 204 No Content\r\n\r\n")
    var request = try server.request()
    request.maximumResponseBytes = bytes
    request.timeout = time
    request.idleTimeout = time
    request.limits.connection = time
    #expect(try await client.send(request).status == 204)
    let own = NaiveTransport { try await $1.send($0) }
    #expect(try await own.exchange(request).status == 204)
    request.timeout = .zero - time
    let late = request
    await failure(.requestTimedOut) { try await client.send(late) }
    await failure(.requestTimedOut) { try await own.exchange(late) }
  }

  @Test(arguments: [.min, -2, -1] as [Int64])
  func `a body of negative length is rejected before it is sent`(length: Int64) async throws {
    let server = try Server.answering()
    var request = try server.request("POST")
    request.body = .stream(length: length) { { nil } }
    await failure(.malformedRequest) { [request] in try await client.send(request) }
    #expect(server.requests.isEmpty)
  }

  @Test func `a request body announced with the largest length fails when it ends early`()
    async throws
  {
    let server = try RawServer { connection in
      while !connection.read().isEmpty {}
    }
    defer { server.stop() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    var request = WebRequest(method: "POST", url: url)
    request.body = .stream(length: .max) { { nil } }
    await failure(.malformedRequest) { [request] in try await client.send(request) }
  }

  /// A server that closes a connection may have processed the request, and accepts no proof twice.
  @Test(arguments: [(false, 2), (true, 1)])
  func `only a request without needsNewConnection is resent after a used connection closes`(
    isNew: Bool, count: Int
  ) async throws {
    // For each copy of the request, whether its connection had carried another request before.
    let copies = Locked<[Bool]>([])
    let raw = try RawServer { connection in
      // The server answers once, and closes the connection after the next request.
      var isUsed = false
      while let (head, _) = connection.readHead() {
        if head.hasPrefix("GET /proven") { copies.withLock { $0.append(isUsed) } }
        guard !isUsed else { return }
        isUsed = true
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      }
    }
    defer { raw.stop() }
    let address = "http://127.0.0.1:\(raw.port)"
    let first = try WebRequest(url: address + "/first")
    var request = try WebRequest(url: address + "/proven")
    request.needsNewConnection = isNew
    // The connections of other tests can push the first connection out of libcurl's cache.
    try await eventually("the request is sent on a used connection") { [request] in
      copies.withLock { $0 = [] }
      _ = try await client.send(first)
      #expect(try await client.send(request).status == 200)
      return isNew || copies.withLock { $0.first == true }
    }
    #expect(copies.withLock(\.count) == count)
  }
}

extension RawConnection {
  /// Writes all bytes, and returns `false` if the client has left.
  fileprivate func isWritten(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
