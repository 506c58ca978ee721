import Foundation
import GRPCValueSupport
import ProgramSupport
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Proxies between the client and the server, working and broken ones.
///
/// Only the proxy can find the servers: their names do not resolve.
@Suite(.timeLimit(.minutes(1)), .requires(ProgramRequirement(programs: ["openssl", "python3"])))
struct ProxyTests {
  private static let consent = [UInt8]("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

  /// Creates a channel to a server through a proxy on this machine.
  private func channel(
    _ url: String, through proxy: HostileServer, scheme: String = "http",
    certificates: Certificates? = nil
  ) throws -> RPCChannel {
    var configuration = try HTTPTransportConfiguration.trusting(certificates)
    configuration.proxy = .url(
      try #require(URL(string: "\(scheme)://user:canary@\(proxy.authority)")))
    return try RPCChannel(
      url: try #require(URL(string: url)), options: .short, configuration: configuration)
  }

  @Test func `unencrypted calls go through a proxy with CONNECT and the proxy's credentials`()
    async throws
  {
    try await HostileServer.running({ _ in .good }) { server in
      let steps: [Step] = [.head, .send(Self.consent), .relay(port: server.port)]
      try await HostileServer.running({ _ in steps }) { proxy in
        let channel = try channel("http://grpc.example:81", through: proxy)
        for _ in 0..<3 { #expect(try await channel.test("X", "abc").response().isEmpty) }
        #expect(proxy.log().head.hasPrefix("CONNECT grpc.example:81 HTTP/1.1\r\n"))
        #expect(proxy.log().head.contains("Proxy-Authorization: Basic dXNlcjpjYW5hcnk=\r\n"))
        #expect(proxy.connectionCount == 1 && server.connectionCount == 1)
      }
    }
  }

  @Test func `TLS calls through a proxy succeed only if the certificate has the server's name`()
    async throws
  {
    let certificates = try await Certificates()
    try await HostileServer.running({ _ in .good }) { server in
      let relay = try await TLSRelay(to: server.port, certificates, certificate: "other")
      let steps: [Step] = [.head, .send(Self.consent), .relay(port: relay.port)]
      try await HostileServer.running({ _ in steps }) { proxy in
        let channel = try channel(
          "https://other.example", through: proxy, certificates: certificates)
        for _ in 0..<3 { #expect(try await channel.test("X", "abc").response().isEmpty) }
        #expect(proxy.log().head.hasPrefix("CONNECT other.example:443 HTTP/1.1\r\n"))
        #expect(proxy.connectionCount == 1 && server.connectionCount == 1)
        // The certificate must match the server's name, not the proxy's.
        let wrong = try self.channel(
          "https://wrong.example", through: proxy, certificates: certificates)
        let error = await rpcFailure(.unavailable) { try await wrong.test("X").response() }
        #expect(error?.oauthError?.code == .tlsFailed)
      }
    }
  }

  @Test func `bytes that the server sends right after the proxy's answer are not lost`()
    async throws
  {
    let steps: [Step] = [.head, .send(Self.consent + Bytes.start), .preface, .serve]
    try await HostileServer.running({ _ in steps }) { proxy in
      let channel = try channel("http://grpc.example", through: proxy)
      #expect(try await channel.test("X").response().isEmpty)
    }
  }

  @Test func `a call succeeds through a proxy that answers slowly`() async throws {
    let answer = [UInt8]("HTTP/1.1 200 OK\r\nVia: somebody\r\nContent-Length: 5\r\n\r\n".utf8)
    let steps: [Step] = [.head, .trickle(answer + Bytes.start), .preface, .serve]
    try await HostileServer.running({ _ in steps }) { proxy in
      let channel = try channel("http://grpc.example", through: proxy)
      #expect(try await channel.test("X").response().isEmpty)
    }
  }

  @Test(arguments: [302, 403, 407, 502, 503])
  func `the error for a proxy that refuses the tunnel has the proxy's HTTP status`(status: Int)
    async throws
  {
    let answer = [UInt8](
      "HTTP/1.1 \(status) No canary\r\nContent-Length: 6\r\nConnection: close\r\n\r\ncanary".utf8)
    try await HostileServer.running({ _ in [.head, .send(answer), .close] }) { proxy in
      for url in ["http://grpc.example", "https://grpc.example"] {
        let channel = try channel(url, through: proxy)
        let error = try #require(
          await rpcFailure(.unavailable) { try await channel.test("X").response() })
        #expect(error.oauthError?.code == .connectionFailed)
        #expect(
          error.message.hasPrefix("the proxy towards grpc.example")
            && error.message.contains("status \(status)"), "\(error)")
        #expect(!error.message.contains("canary"))
      }
    }
  }

  /// What a proxy sends instead of an answer.
  static let answers: [(name: String, steps: [Step])] = [
    ("nothing", [.head, .close]),
    ("a reset", [.head, .reset]),
    ("garbage", [.head, .send([UInt8](repeating: 0x55, count: 5000)), .close]),
    ("a part of a head", [.head, .send([UInt8]("HTTP/1.1 200 OK\r\nVia".utf8)), .close]),
    ("HTTP/2", [.head, .send(Bytes.start), .close]),
  ]

  @Test(arguments: answers)
  func `a call through a proxy without a valid answer fails`(name: String, steps: [Step])
    async throws
  {
    try await HostileServer.running({ _ in steps }) { proxy in
      for url in ["http://grpc.example", "https://grpc.example"] {
        let channel = try channel(url, through: proxy)
        let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
        #expect(error?.oauthError != nil, "\(String(describing: error))")
        #expect(error?.message.contains("canary") == false)
      }
    }
  }

  @Test func `an https proxy is rejected and receives nothing`() async throws {
    try await HostileServer.running({ _ in [.head] }) { proxy in
      for url in ["http://grpc.example", "https://grpc.example"] {
        let channel = try channel(url, through: proxy, scheme: "https")
        let error = await rpcFailure(.failedPrecondition) { try await channel.test("X").response() }
        #expect(error?.oauthError?.code == .invalidConfiguration)
        #expect(error?.message.contains("use a proxy that is reached over http") == true)
        #expect(error?.message.contains("canary") == false)
      }
      for index in 0..<proxy.connectionCount {
        try await eventually { proxy.log(index).isOver }
        #expect(proxy.log(index).head.isEmpty)
      }
    }
  }

  @Test func `a server on this machine is called without the proxy`() async throws {
    try await HostileServer.running({ _ in [.close] }) { proxy in
      try await HostileServer.running({ _ in .good }) { server in
        for host in ["127.0.0.1", "localhost"] {
          let channel = try channel("http://\(host):\(server.port)", through: proxy)
          #expect(try await channel.test("X").response().isEmpty)
        }
        #expect(proxy.connectionCount == 0)
      }
    }
  }
}
