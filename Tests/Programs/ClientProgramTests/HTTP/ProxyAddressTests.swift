import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Proxies that a program sets from an address that its user enters, also over TLS.
@Suite(.timeLimit(.minutes(1))) struct ProxyAddressTests {
  @Test(arguments: [
    ("proxy.example:8080", "http://proxy.example:8080"), ("proxy.example", "http://proxy.example"),
    ("ftp.example:21", "http://ftp.example:21"), ("10.0.0.1:3128", "http://10.0.0.1:3128"),
    ("[::1]:8080", "http://[::1]:8080"), ("HTTPS://proxy.example", "HTTPS://proxy.example"),
    ("socks5h://proxy.example:1080", "socks5h://proxy.example:1080"),
    ("alice:p%40ss@proxy.example:8080", "http://alice:p%40ss@proxy.example:8080"),
  ])
  func `a proxy address is accepted with or without a scheme`(address: String, url: String) throws {
    let proxy = try HTTPTransportConfiguration.Proxy(address: address)
    #expect(proxy == .url(try #require(URL(string: url))))
    #expect(!everyText(of: proxy).contains("p%40ss"))
  }

  @Test(arguments: [
    ("", "the form http://HOST:PORT"), ("http://", "the form http://HOST:PORT"),
    ("http://:80", "the form http://HOST:PORT"), ("canary:port", "the form http://HOST:PORT"),
    ("ftp://canary", "a scheme that no proxy has"), ("canary://x", "a scheme that no proxy has"),
    ("http://a:canary@h:99999", "the form http://HOST:PORT"),
  ])
  func `an unusable proxy address causes an error that does not repeat the address`(
    address: String, reason: String
  ) throws {
    let error = try #require(throws: SQOAuthError.self) {
      try HTTPTransportConfiguration.Proxy(address: address)
    }
    #expect(error.code == .invalidConfiguration)
    #expect(error.message.contains(reason), "\(error)")
    #expect(!everyText(of: error).contains("canary"))
  }

  // MARK: A proxy over TLS

  private static let programs = ProgramRequirement(programs: ["nginx", "openssl", "sh", "python3"])

  private func configuration(
    _ proxy: ForwardProxy, trusting authority: Data?
  ) throws -> HTTPTransportConfiguration {
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = try .init(address: "https://\(proxy.authority)")
    configuration.additionalAuthorities = authority
    return configuration
  }

  @Test(.requires(programs))
  func `the certificate of a proxy over TLS is checked with the same authorities as a server's`()
    async throws
  {
    let certificates = try await Certificates()
    let sandbox = try await SandboxServer.start()
    let front = try SecureFront(before: sandbox, certificates)
    let proxy = try ForwardProxy(
      to: ["other.example": .at(front.port)], certificates, isSecure: true)
    let request = try WebRequest(
      method: "GET", url: "https://other.example/.well-known/openid-configuration")
    let authority = try certificates.data("ca.pem")
    for trustsSystem in [true, false] {
      var network = try configuration(proxy, trusting: authority)
      network.trustsSystemAuthorities = trustsSystem
      #expect(try await CurlTransport(configuration: network).send(request).status == 200)
    }
    let error = try #require(
      await failure(.tlsFailed) {
        try await CurlTransport(configuration: try configuration(proxy, trusting: nil)).send(
          request)
      })
    #expect(
      error.message.hasPrefix("no trusted TLS connection to the proxy towards other.example:443"),
      "\(error)")
    #expect(error.message.contains("the proxy setting, HTTPTransportConfiguration.proxy,"))
    #expect(proxy.requests.allSatisfy { $0 == "CONNECT other.example:443 200" })
    withExtendedLifetime(front) {}
    await sandbox.stop()
  }

  @Test(.requires(programs))
  func `the error for an untrusted server behind a trusted proxy over TLS names the server`()
    async throws
  {
    let certificates = try await Certificates()
    let sandbox = try await SandboxServer.start()
    let front = try SecureFront(before: sandbox, certificates, certificate: "expired")
    let proxy = try ForwardProxy(
      to: ["other.example": .at(front.port)], certificates, isSecure: true)
    let network = try configuration(proxy, trusting: certificates.data("ca.pem"))
    let error = try #require(
      await failure(.tlsFailed) {
        try await CurlTransport(configuration: network).send(
          WebRequest(method: "GET", url: "https://other.example/"))
      })
    #expect(
      error.message.hasPrefix("no trusted TLS connection to other.example:443: "), "\(error)")
    // libcurl gives no reason here. The error must still not blame the connection to the proxy.
    #expect(!error.message.contains("connection to the proxy"), "\(error)")
    withExtendedLifetime(front) {}
    await sandbox.stop()
  }
}
