import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackScriptTests {
  private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  private func server(_ steps: LoopbackStep...) throws -> LoopbackServer {
    try LoopbackServer { _ in .script(steps) }
  }

  @Test func `a script's bytes are sent unchanged, then the stream ends`() async throws {
    let server = try server(
      .send(Data("HTTP/1.1 200 OK\r\n".utf8)), .wait(.milliseconds(20)), .send(Data()),
      .send(Data("not: a head".utf8)))
    #expect(try await exchange(get, with: server) == "HTTP/1.1 200 OK\r\nnot: a head")
    await server.stop()
  }

  @Test func `an empty script ends the stream at once`() async throws {
    let server = try server()
    #expect(try await exchange(get, with: server) == "")
    await server.stop()
  }

  @Test func `a reset in a script resets the connection`() async throws {
    let server = try server(.send(Data("HTTP/1.1".utf8)), .wait(.milliseconds(20)), .reset)
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    await #expect(throws: LoopbackError.system(errno: 104)) { try await connection.receiveAll() }
    await server.stop()
  }

  @Test func `an endless stream repeats its bytes and does not block other clients`() async throws {
    let server = try server(.send(Data("<".utf8)), .sendForever(Data("abc".utf8)))
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    var all = Data()
    while all.count < 5_000_000 { all.append(try await connection.receive()) }
    #expect(all.prefix(7) == Data("<abcabc".utf8))
    #expect(all.dropFirst().enumerated().allSatisfy { $1 == 0x61 + UInt8($0 % 3) })
    // The server answers another client at the same time.
    let other = try await LoopbackConnection(port: server.port)
    try await other.send(get)
    #expect(try await other.receive().first == 0x3C)
    connection.close()
    await server.stop()
  }

  @Test func `a waiting script does not delay the stop`() async throws {
    let server = try server(.send(Data("x".utf8)), .wait(.seconds(3600)), .send(Data("y".utf8)))
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    #expect(try await connection.receive() == Data("x".utf8))
    await server.stop()
    #expect(try await connection.receiveAll().isEmpty)
  }

  @Test func `a client's time limit is for the whole answer, even if bytes keep arriving`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .script(
        (0..<1000).flatMap { _ in [LoopbackStep.send(Data("x".utf8)), .wait(.milliseconds(10))] })
    }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    await #expect(throws: LoopbackError.system(errno: 110)) {
      try await connection.receiveAll(within: .milliseconds(200))
    }
    connection.close()
    await server.stop()
  }

  @Test func `a long script does not grow the stack`() async throws {
    let server = try LoopbackServer { _ in
      .script(
        (0..<20_000).flatMap { _ in [LoopbackStep.send(Data("x".utf8)), .wait(.zero)] })
    }
    #expect(try await exchange(get, with: server).utf8.count == 20_000)
    await server.stop()
  }
}
