import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Trust decisions, tested with OpenSSL's own server.
@Suite(.timeLimit(.minutes(10)), .requires(ProgramRequirement(programs: ["openssl"])))
struct HTTPTLSTests {
  let certificates: Certificates

  init() async throws {
    certificates = try await Certificates()
  }

  /// Runs `openssl s_server -www`, which answers every GET with a page about the connection.
  private func withServer(
    _ certificate: String = "server", _ options: [String] = [],
    _ body: (URL) async throws -> Void
  ) async throws {
    let key = certificate == "expired" ? "server" : certificate
    let server = try await Program.serving { port in
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert",
        certificates.path("\(certificate).pem"), "-key", certificates.path("\(key).key"), "-www",
      ] + options
    }
    try await body(try #require(URL(string: "https://127.0.0.1:\(server.port)/")))
    withExtendedLifetime(server) {}
  }

  private func configuration() throws -> HTTPTransportConfiguration {
    var configuration = HTTPTransportConfiguration.direct
    configuration.additionalAuthorities = try certificates.data("ca.pem")
    return configuration
  }

  @Test func `a certificate of an untrusted authority is rejected`() async throws {
    try await withServer { url in
      let error = try #require(
        await failure(.tlsFailed) { try await CurlTransport.shared.send(WebRequest(url: url)) })
      #expect(error.message.contains(url.host() ?? "?"))
      #expect((error.cause as? CurlError)?.code == 60)
      #expect((error.cause as? CurlError)?.text.contains("certificate") == true)
    }
  }

  @Test(arguments: [true, false])
  func `an authority from the configuration is trusted`(besidesSystem: Bool) async throws {
    try await withServer { url in
      var configuration = try configuration()
      configuration.trustsSystemAuthorities = besidesSystem
      let client = CurlTransport(configuration: configuration)
      #expect(try await client.send(WebRequest(url: url)).status == 200)
    }
  }

  @Test(.ownThreads)
  func `authorities in the file of SSL_CERT_FILE are trusted like those of the system`() async {
    await #expect(processExitsWith: .success) {
      let tests = try await HTTPTLSTests()
      try await tests.withServer { url in
        let request = WebRequest(url: url)
        await failure(.tlsFailed) { try await CurlTransport().send(request) }
        setenv("SSL_CERT_FILE", tests.certificates.path("ca.pem"), 1)
        try #require(try await CurlTransport().send(request).status == 200)
        // A client without the system's authorities does not trust the environment's authorities
        // either.
        var configuration = HTTPTransportConfiguration.direct
        configuration.trustsSystemAuthorities = false
        let strict = CurlTransport(configuration: configuration)
        try #require(await failure(.tlsFailed) { try await strict.send(request) } != nil)
        // With additional authorities, a client still trusts the environment's authorities.
        configuration.trustsSystemAuthorities = true
        configuration.additionalAuthorities = try tests.certificates.data("other.pem")
        let both = CurlTransport(configuration: configuration)
        try #require(try await both.send(request).status == 200)
      }
    }
  }

  @Test(.ownThreads)
  func `besides additional authorities, SSL_CERT_FILE is read again after it could not be read`()
    async
  {
    await #expect(processExitsWith: .success) {
      let tests = try await HTTPTLSTests()
      try await tests.withServer { url in
        let file = tests.certificates.folder.appending(path: "later.pem")
        setenv("SSL_CERT_FILE", file.path, 1)
        let client = CurlTransport(configuration: try tests.configuration())
        let error = await failure(.tlsFailed) { try await client.send(WebRequest(url: url)) }
        try #require(error?.message.contains("cannot be read") == true, "\(error as Any)")
        try #require(error?.message.contains("No such file") == true, "\(error as Any)")
        // A request without TLS needs no authorities.
        let plain = try Server.answering()
        try #require(try await client.send(try plain.request()).text == "hello")
        try tests.certificates.data("other.pem").write(to: file)
        try #require(try await client.send(WebRequest(url: url)).status == 200)
      }
    }
  }

  @Test(
    .ownThreads, .requires(ProgramRequirement(programs: ["python3"])), arguments: [false, true])
  func `with SSLKEYLOGFILE set, no secret of a request's connections is written to the file`(
    throughProxy: Bool
  ) async {
    await #expect(processExitsWith: .success) { [throughProxy = throughProxy as Bool] in
      let tests = try await HTTPTLSTests()
      try await tests.withServer(throughProxy ? "other" : "server") { server in
        let port = try #require(server.port.flatMap { UInt16(exactly: $0) })
        let proxy = try ForwardProxy(
          to: ["other.example": .at(port)], tests.certificates, isSecure: true)
        let file = tests.certificates.folder.appending(path: "keys")
        // libcurl reads the variable when it starts, and creates the file.
        setenv("SSLKEYLOGFILE", file.path, 1)
        var configuration = try tests.configuration()
        var url = server
        if throughProxy {
          configuration.proxy = try .init(address: "https://\(proxy.authority)")
          url = try #require(URL(string: "https://other.example/"))
        }
        let client = CurlTransport(configuration: configuration)
        try #require(try await client.send(WebRequest(url: url)).status == 200)
        try #require(try Data(contentsOf: file).isEmpty)
        withExtendedLifetime(proxy) {}
      }
    }
  }

  @Test func `a client without any trusted authority rejects the server`() async throws {
    try await withServer { url in
      var configuration = HTTPTransportConfiguration.direct
      configuration.trustsSystemAuthorities = false
      let client = CurlTransport(configuration: configuration)
      await failure(.tlsFailed) { try await client.send(WebRequest(url: url)) }
    }
  }

  @Test func `an invalid certificate adds no authority`() async throws {
    try await withServer { url in
      var configuration = HTTPTransportConfiguration.direct
      configuration.additionalAuthorities = Data("nonsense".utf8)
      let client = CurlTransport(configuration: configuration)
      await failure(.tlsFailed) { try await client.send(WebRequest(url: url)) }
    }
  }

  @Test(arguments: ["other", "expired"])
  func `an expired certificate or a certificate for another host is rejected`(
    certificate: String
  ) async throws {
    try await withServer(certificate) { url in
      let client = CurlTransport(configuration: try configuration())
      await failure(.tlsFailed) { try await client.send(WebRequest(url: url)) }
    }
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func `a client certificate is sent if the server requests one`(version: String) async throws {
    let options = [
      version, "-Verify", "1", "-CAfile", certificates.path("ca.pem"), "-verify_return_error",
    ]
    try await withServer("server", options) { url in
      var configuration = try configuration()
      let without = CurlTransport(configuration: configuration)
      await failure(.tlsFailed) { try await without.send(WebRequest(url: url)) }
      configuration.clientCertificate = .init(
        chain: try certificates.data("client.pem"), privateKey: try certificates.data("client.key"))
      let with = CurlTransport(configuration: configuration)
      #expect(try await with.send(WebRequest(url: url)).status == 200)
      // A client without a certificate does not reuse this connection.
      await failure(.tlsFailed) { try await without.send(WebRequest(url: url)) }
      #expect(!everyText(of: configuration).contains("PRIVATE KEY"))
    }
  }

  @Test func `a connection is not shared with a client that trusts other authorities`() async throws
  {
    try await withServer { url in
      let trusting = CurlTransport(configuration: try configuration())
      #expect(try await trusting.send(WebRequest(url: url)).status == 200)
      await failure(.tlsFailed) { try await CurlTransport.shared.send(WebRequest(url: url)) }
      #expect(try await trusting.send(WebRequest(url: url)).status == 200)
    }
  }

  @Test func `a TLS version below the minimum is rejected`() async throws {
    try await withServer("server", ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]) { url in
      let client = CurlTransport(configuration: try configuration())
      await failure(.tlsFailed) { try await client.send(WebRequest(url: url)) }
    }
    try await withServer("server", ["-tls1_2"]) { url in
      var configuration = try configuration()
      let modern = CurlTransport(configuration: configuration)
      #expect(try await modern.send(WebRequest(url: url)).status == 200)
      configuration.minimumTLSVersion = .tls13
      let strict = CurlTransport(configuration: configuration)
      await failure(.tlsFailed) { try await strict.send(WebRequest(url: url)) }
    }
  }

  @Test func `a server without TLS causes a TLS error`() async throws {
    let server = try Server.saying("HTTP/1.1 400 Bad Request\r\n\r\n")
    let url = try #require(URL(string: "https://\(server.loopback.authority)/"))
    await failure(.tlsFailed) { try await CurlTransport.shared.send(WebRequest(url: url)) }
  }

  @Test(.ownThreads) func `a process can exit normally during TLS handshakes`() async throws {
    try await withServer { url in
      for milliseconds in stride(from: 20, to: 120, by: 10) {
        await #expect(processExitsWith: .exitCode(0)) {
          [
            text = url.absoluteString as String, authority = certificates.path("ca.pem") as String,
            milliseconds = milliseconds as Int
          ] in
          var configuration = HTTPTransportConfiguration.direct
          configuration.additionalAuthorities = try Data(contentsOf: URL(filePath: authority))
          let client = CurlTransport(configuration: configuration)
          let url = try #require(URL(string: text))
          let request = WebRequest(url: url, headers: ["Connection": "close"])
          try #require(try await client.send(request).status == 200)
          for _ in 0..<8 {
            Task { for _ in 0..<10_000 { _ = try? await client.send(request) } }
          }
          try await Task.sleep(for: .milliseconds(milliseconds))
          exit(0)
        }
      }
    }
  }

  @Test(
    .requires(ProgramRequirement(programs: ["python3"])),
    arguments: [
      ("\r\npart", false), ("Content-Length: 4\r\n\r\npart", true),
      ("Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n0\r\n\r\n", true),
    ])
  func `content without a length must end with the TLS close_notify`(
    rest: String, isWhole: Bool
  ) async throws {
    let server = try RawServer { connection in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\n" + rest)
    }
    defer { server.stop() }
    let front = try await TLSFront(before: server, speaking: "http/1.1")
    let request = WebRequest(url: try #require(front.url))
    if isWhole {
      #expect(try await front.client().send(request).text == "part")
    } else {
      let error = await failure(.connectionFailed) { try await front.client().send(request) }
      #expect(error?.message.contains("may be cut off") == true)
    }
  }

  @Test func `the error for an https request to a plain http server names that possible cause`()
    async throws
  {
    let server = try LoopbackServer { _ in .response(LoopbackResponse(status: 200)) }
    let error = await failure(.tlsFailed) {
      try await CurlTransport.shared.send(WebRequest(url: "https://127.0.0.1:\(server.port)/"))
    }
    #expect(error?.message.contains("perhaps the server speaks http there") == true)
    await server.stop()
  }
}
