import Foundation
import GRPCValueSupport
import LoopbackSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Servers that fail during the TLS handshake or after it.
@Suite(
  .timeLimit(.minutes(2)), .requires(ProgramRequirement(programs: ["openssl", "python3"])))
struct TLSTests {
  let certificates: Certificates

  init() async throws {
    certificates = try await Certificates()
  }

  // MARK: Without a handshake

  /// What a server does instead of a handshake, and the expected error text.
  static let foreign: [(name: String, steps: [Step], words: String)] = [
    ("the end before anything", [.close], "closed by the server"),
    ("the end in the handshake", [.anything, .close], "in the handshake, the connection "),
    ("a reset in the handshake", [.anything, .reset], "in the handshake, the connection "),
    (
      "a part of a handshake", [.anything, .send([22, 3, 3, 0, 100, 2, 0, 0, 96]), .close],
      "in the handshake, the connection "
    ),
    (
      "an alert", [.anything, .send([21, 3, 3, 0, 2, 2, 40]), .close],
      "alert handshake failure"
    ),
    (
      "an answer of HTTP/1.1",
      [.anything, .send([UInt8]("HTTP/1.1 400 Bad\r\n\r\n".utf8)), .close],
      "perhaps the server speaks http there, and not https"
    ),
    ("HTTP/2 in clear", [.anything, .send(Bytes.start)], "perhaps the server speaks http there"),
    (
      "garbage", [.anything, .send([UInt8](repeating: 0x55, count: 5000))],
      "perhaps the server speaks http there"
    ),
    (
      "a record that is too long", [.anything, .send([22, 3, 3, 0xFF, 0xFF])],
      "check which versions of TLS"
    ),
  ]

  @Test(arguments: foreign)
  func `a server that fails the TLS handshake causes a TLS error`(
    name: String, steps: [Step], words: String
  ) async throws {
    try await HostileServer.running({ _ in steps }) { server in
      let channel = try server.channel(scheme: "https")
      let error = try #require(
        await rpcFailure(.unavailable) { try await channel.test("X").response() })
      #expect(error.oauthError?.code == .tlsFailed)
      #expect(error.message.hasPrefix("no usable TLS connection to \(server.authority): "))
      // If the server closes before the client has sent anything, the end may look like a reset.
      #expect(error.message.contains(words) || name == "the end before anything", "\(error)")
      try await eventually("the connection is closed") { server.log().isOver }
    }
  }

  @Test func `a silent TLS server does not hold a call beyond its time limit`() async throws {
    try await HostileServer.running({ _ in [] }) { server in
      let call = try server.channel(scheme: "https").test("X")
      try call.setTimeout(.milliseconds(300))
      await rpcFailure(.deadlineExceeded) { try await call.response() }
    }
  }

  // MARK: Trust

  /// Rejected certificates, and the expected error text.
  static let refused = [
    ("other", "IP address mismatch"), ("expired", "certificate has expired"),
  ]

  @Test(arguments: refused)
  func `an expired certificate or a certificate for another host is rejected`(
    certificate: String, words: String
  ) async throws {
    try await HostileServer.running({ _ in .good }) { server in
      let relay = try await TLSRelay(to: server.port, certificates, certificate: certificate)
      let channel = try relay.channel(.trusting(certificates))
      let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
      #expect(error?.oauthError?.code == .tlsFailed)
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      #expect(server.connectionCount == 0)
    }
  }

  @Test(.ownThreads) func `the error of a call says that the authorities cannot be read`() async {
    await #expect(processExitsWith: .success) {
      setenv("SSL_CERT_FILE", "/missing.pem", 1)
      try await HostileServer.running({ _ in [] }) { server in
        let channel = try server.channel(scheme: "https")
        let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
        try #require(error?.oauthError?.code == .tlsFailed, "\(error as Any)")
        let words = "the authorities that the client trusts cannot be read"
        try #require(error?.message.contains(words) == true, "\(error as Any)")
      }
    }
  }

  @Test(arguments: ["1.2", "1.3"])
  func `a call to a server that demands a client certificate fails without one`(version: String)
    async throws
  {
    let options = ["--clients", certificates.path("ca.pem"), "--version", version]
    try await HostileServer.running({ _ in .good }) { server in
      let relay = try await TLSRelay(to: server.port, certificates, options: options)
      let error = await rpcFailure(.unavailable) {
        try await relay.channel(.trusting(certificates)).test("X").response()
      }
      #expect(error?.oauthError?.code == .tlsFailed, "\(String(describing: error))")
      var configuration = try HTTPTransportConfiguration.trusting(certificates)
      configuration.clientCertificate = .init(
        chain: try certificates.data("client.pem"), privateKey: try certificates.data("client.key"))
      let channel = try relay.channel(configuration)
      #expect(try await channel.test("Good").response().isEmpty)
    }
  }

  @Test(arguments: [nil, "http/1.1"], ["1.2", "1.3"])
  func `a server that does not choose HTTP/2 is not called`(
    protocols: String?, version: String
  ) async throws {
    try await HostileServer.running({ _ in .good }) { server in
      let relay = try await TLSRelay(
        to: server.port, certificates, protocols: protocols, options: ["--version", version])
      let channel = try relay.channel(.trusting(certificates))
      let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
      #expect(error?.oauthError?.code == .invalidResponse)
      #expect(error?.message == "127.0.0.1:\(relay.port) does not speak HTTP/2")
      #expect(server.log().frames.isEmpty)
    }
  }

  @Test func `a server that rejects HTTP/2 with a TLS alert causes a TLS error`() async throws {
    let socket = try BoundSocket()
    let server = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(socket.port)", "-alpn", "http/1.1", "-cert",
        certificates.path("server.pem"), "-key", certificates.path("server.key"), "-quiet",
      ], input: .open)
    let url = try #require(URL(string: "https://127.0.0.1:\(socket.port)"))
    let error = try await eventually("the server runs") { () -> RPCCallError? in
      let channel = try RPCChannel(
        url: url, options: .short, configuration: try .trusting(certificates))
      let error = await rpcFailure { try await channel.test("X").response() }
      return error?.oauthError?.code == .connectionFailed ? nil : error
    }
    #expect(error.oauthError?.code == .tlsFailed)
    #expect(error.message.contains("no application protocol"))
    await server.stop()
    withExtendedLifetime(socket) {}
  }

  // MARK: Over TLS

  @Test(.ownThreads)
  func `with SSLKEYLOGFILE set, no secret of a call's TLS connection is written to the file`() async
  {
    await #expect(processExitsWith: .success) {
      let tests = try await TLSTests()
      let file = tests.certificates.folder.appending(path: "keys")
      try await HostileServer.running({ _ in .good }) { server in
        let relay = try await TLSRelay(to: server.port, tests.certificates)
        // libcurl reads the variable when it starts, and creates the file.
        setenv("SSLKEYLOGFILE", file.path, 1)
        let channel = try relay.channel(.trusting(tests.certificates))
        try #require(try await channel.test("Good").response().isEmpty)
      }
      try #require(try Data(contentsOf: file).isEmpty)
    }
  }

  @Test(arguments: [[], ["--farewell"], ["--version", "1.2"]])
  func `a TLS connection that ends in the middle of a response fails the call`(options: [String])
    async throws
  {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers), .send(Bytes.head() + Bytes.data([0, 0])),
      .close,
    ]
    try await HostileServer.once(steps) { server in
      let relay = try await TLSRelay(to: server.port, certificates, options: options)
      let channel = try relay.channel(.trusting(certificates))
      let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
      #expect(error?.message.hasPrefix("the connection to 127.0.0.1:\(relay.port) ") == true)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
    }
  }

  @Test(arguments: Offence.windows)
  func `a server's violation of HTTP/2 over TLS fails the call, and the next call succeeds`(
    offence: Offence
  ) async throws {
    try await HostileServer.once(.afterRequest(.send(offence.bytes))) { server in
      let relay = try await TLSRelay(to: server.port, certificates)
      let channel = try relay.channel(.trusting(certificates))
      let error = await rpcFailure { try await channel.test("X").response() }
      #expect(error?.message.contains("does not keep to HTTP/2: ") == true)
      #expect(try await channel.test("Good").response().isEmpty)
    }
  }

  @Test func `a call to a TLS server that sends GOAWAY at once fails after five connections`()
    async throws
  {
    let bytes = Bytes.settings() + Bytes.goAway(last: 0)
    try await HostileServer.running({ _ in [.send(bytes), .preface] }) { server in
      let relay = try await TLSRelay(to: server.port, certificates)
      let call = try relay.channel(.trusting(certificates)).test("X")
      try call.setTimeout(nil)
      await rpcFailure(.unavailable) { try await call.response() }
      #expect(server.connectionCount == 5)
    }
  }

  @Test(arguments: [1, 5, 1000])
  func `calls succeed even if TLS records arrive in pieces`(piece: Int) async throws {
    try await HostileServer.running({ _ in .good }) { server in
      let relay = try await TLSRelay(to: server.port, certificates)
      let steps: [Step] = [.relay(port: relay.port, piece: piece)]
      try await HostileServer.running({ _ in steps }) { middle in
        let channel = try middle.channel(
          scheme: "https", configuration: try .trusting(certificates))
        for _ in 0..<3 { #expect(try await channel.test("X", "abc").response().isEmpty) }
        #expect(middle.connectionCount == 1)
      }
    }
  }

  /// HTTP/2 forbids renegotiation (RFC 9113, section 9.2.1).
  @Test func `a TLS renegotiation by the server is refused and fails the call`() async throws {
    let socket = try BoundSocket()
    let input = Pipe()
    let file = certificates.folder.appending(path: "output")
    try Data().write(to: file)
    let output = try FileHandle(forWritingTo: file)
    let server = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(socket.port)", "-alpn", "h2", "-tls1_2",
        "-cert", certificates.path("server.pem"), "-key", certificates.path("server.key"),
      ],
      input: input.fileHandleForReading.fileDescriptor, output: output.fileDescriptor,
      errors: output.fileDescriptor)
    let url = try #require(URL(string: "https://127.0.0.1:\(socket.port)"))
    func text() throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
    try await eventually("the server runs") { try text().contains("ACCEPT") }
    let call = try RPCChannel(
      url: url, options: .short, configuration: try .trusting(certificates)
    ).test("X")
    try call.start()
    try await eventually("there is a connection") { try text().contains("CIPHER is") }
    // Commands the server to renegotiate.
    try input.fileHandleForWriting.write(contentsOf: Data("r\n".utf8))
    await rpcFailure(.unavailable) { try await call.response() }
    try await eventually("the renegotiation is refused") { try text().contains("no renegotiation") }
    await server.stop()
    withExtendedLifetime(socket) {}
  }
}
