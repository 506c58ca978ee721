import Foundation
import ProgramSupport
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Which requests a proxy receives, with a real listener as the proxy.
@Suite(.timeLimit(.minutes(3))) struct HTTPProxyTests {
  private func proxy() throws -> Server {
    try Server { request, _ in
      request.method == "CONNECT"
        ? .response(LoopbackResponse(status: 407, headers: [("X-Proxy", "1")]))
        : .response(LoopbackResponse(status: 200, body: Data("from the proxy".utf8)))
    }
  }

  private func client(through proxy: Server) throws -> CurlTransport {
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = .url(
      try #require(URL(string: "http://user:canary@\(proxy.loopback.authority)")))
    #expect(!everyText(of: configuration).contains("canary"))
    return CurlTransport(configuration: configuration)
  }

  @Test func `a plain http request is sent to the proxy with its absolute URL`() async throws {
    let proxy = try proxy()
    let url = try #require(URL(string: "http://server.example:81/path?q=1"))
    #expect(try await client(through: proxy).send(WebRequest(url: url)).text == "from the proxy")
    let seen = try #require(proxy.requests.first)
    #expect(seen.target == "http://server.example:81/path?q=1")
    #expect(seen.header("proxy-authorization") == "Basic dXNlcjpjYW5hcnk=")
  }

  @Test func `an https request asks the proxy for a tunnel and shows it no secret`() async throws {
    let proxy = try proxy()
    let url = try #require(URL(string: "https://server.example/path?q=canary"))
    let request = WebRequest(url: url, headers: ["Authorization": "Bearer token"])
    let error = await failure(.connectionFailed) {
      try await client(through: proxy).send(request)
    }
    #expect(error.map { !everyText(of: $0).contains("canary") } == true)
    let seen = try #require(proxy.requests.first)
    #expect(seen.method == "CONNECT")
    #expect(seen.target == "server.example:443")
    #expect(seen.header("authorization") == nil)
  }

  @Test(arguments: [
    "127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1",
    "127.255.255.254", "localhost", "LocalHost", "localhost.", "a.localhost", "[::1]",
    "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "0", "[::]",
  ])
  func `a request to a loopback host never uses the proxy, however the host is spelled`(
    host: String
  ) async throws {
    let proxy = try proxy()
    let server = try Server.answering()
    let url = try #require(URL(string: "http://\(host):\(server.loopback.port)/"))
    // Some spellings of the host reach the server and some reach nothing. None may reach the proxy.
    _ = try? await client(through: proxy).send(WebRequest(url: url))
    #expect(proxy.requests.isEmpty)
  }

  @Test(arguments: [
    (#"Basic realm="p""#, "user:canary@", "refused the user name or the password"),
    (#"Basic realm="p""#, "", "demands a user name and a password"),
    ("Negotiate", "user:canary@", "does not accept a user name and a password (Basic)"),
    ("NTLM", "", "does not accept a user name and a password (Basic)"),
  ])
  func `the error for a 407 response says what is wrong with the proxy credentials`(
    challenge: String, user: String, reason: String
  ) async throws {
    let proxy = try Server { _, _ in
      .response(LoopbackResponse(status: 407, headers: [("Proxy-Authenticate", challenge)]))
    }
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = .url(
      try #require(URL(string: "http://\(user)\(proxy.loopback.authority)")))
    let client = CurlTransport(configuration: configuration)
    let url = try #require(URL(string: "https://server.example/"))
    let error = await failure(.connectionFailed) { try await client.send(WebRequest(url: url)) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    #expect(error.map { !everyText(of: $0).contains("canary") } == true)
  }

  static let brokenAnswers: [(String, [LoopbackStep])] = [
    ("nothing", []), ("half", [.send(Data("HTTP/1.1 2".utf8))]),
    ("no HTTP", [.send(Data("<html>sign in</html>".utf8))]),
    ("a page", [.send(Data("HTTP/1.1 200 OK\r\n\r\n<html>sign in</html>".utf8))]),
  ]

  @Test(arguments: brokenAnswers, ["http", "https"])
  func `the error for a proxy with an incomplete or invalid answer names the proxy setting`(
    answer: (name: String, steps: [LoopbackStep]), scheme: String
  ) async throws {
    let proxy = try Server { _, _ in .script(answer.steps) }
    let url = try #require(URL(string: "\(scheme)://server.example/"))
    do {
      let response = try await client(through: proxy).send(WebRequest(url: url))
      #expect(scheme == "http" && answer.name == "a page", "\(response.status)")
    } catch let error as SQOAuthError {
      #expect(
        error.message.contains("the proxy setting, HTTPTransportConfiguration.proxy"),
        "\(error.message)")
    }
  }

  @Test(arguments: ["http", "https"])
  func `an unreachable proxy is named in the error`(scheme: String) async throws {
    let closed = try ClosedPort()
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = .url(
      try #require(URL(string: "http://user:canary@127.0.0.1:\(closed.number)")))
    let client = CurlTransport(configuration: configuration)
    let url = try #require(URL(string: "\(scheme)://server.example/"))
    let error = await failure(.connectionFailed) { try await client.send(WebRequest(url: url)) }
    #expect(
      error?.message.contains("the proxy 127.0.0.1:\(closed.number), through which") == true
        && error?.message.contains("server.example") == true, "\(String(describing: error))")
    #expect(error.map { !everyText(of: $0).contains("canary") } == true)
  }

  /// The address that libcurl could not reach, the server's address, and the expected proxy.
  static let tried: [(String, String, String?)] = [
    ("10.0.0.1 port 3128", "10.0.0.1:443", "10.0.0.1:3128"),
    ("10.0.0.1 port 443", "10.0.0.1:443", nil), ("10.0.0.1 port 443", "10.1:443", nil),
    ("fd00::1 port 3128", "[fd00::1]:443", "[fd00::1]:3128"),
    ("fd00::1 port 443", "[fd00:0::1]:443", nil),
    ("a.example port 3128", "a.example:443", "a.example:3128"),
    ("a.example port 443", "a.example:443", nil),
    ("b.example port 443", "a.example:443", "b.example:443"),
  ]

  @Test(arguments: tried)
  func `an unreachable address is the proxy's if its host or port differs from the server's`(
    tried: String, authority: String, proxy: String?
  ) {
    let detail = "Failed to connect to \(tried) after 1 ms: Couldn't connect to server"
    let none = ProxySetting(.none, isSecure: true)
    #expect(SQOAuthError.proxy(in: detail, besides: authority, .init(), none) == proxy)
  }

  /// The texts of libcurl 8.7, 8.16 and later about a proxy that is out of reach.
  @Test(arguments: [
    ("proxy.example port 3128 after 1 ms: Could not connect to server", true),
    ("a.example port 443 via proxy.example after 1 ms: Could not connect to server", true),
    ("a.example port 443 via proxy.example after 1 ms: Could not connect to server", false),
    ("a.example:443 over proxy proxy.example after 1 ms: Could not connect to server", false),
  ])
  func `an unreachable proxy is recognized in the texts of newer versions of libcurl`(
    tried: String, isUsed: Bool
  ) {
    let setting = ProxySetting(
      .environment, isSecure: true,
      environment: ["https_proxy": "http://user:canary@proxy.example:3128"])
    var trace = SQOAuthError.ProxyTrace()
    trace.isUsed = isUsed
    let detail = "Failed to connect to \(tried)"
    let proxy = SQOAuthError.proxy(in: detail, besides: "a.example:443", trace, setting)
    #expect(proxy == "proxy.example:3128")
  }

  static let faulty = [
    ("foo://user:canary@proxy.example", "scheme"), ("ftp://proxy.example:21", "scheme"),
    ("http://", "http://HOST:PORT"), ("http://:8080", "http://HOST:PORT"),
    ("http://us@er@proxy.example/x y", "%40 stands for @"),
    ("http://proxy.example:99999", "http://HOST:PORT"), ("http://h:port", "http://HOST:PORT"),
  ]

  @Test(arguments: faulty, ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
  func `the error for an unusable proxy names its environment variable`(
    proxy: (url: String, reason: String), variable: String
  ) async {
    let setting = ProxySetting(.environment, isSecure: true, environment: [variable: proxy.url])
    #expect(setting.name == "the variable \(variable)")
    #expect(setting.fault?.contains(proxy.reason) == true)
    #expect(setting.fault?.contains("canary") == false)
  }

  @Test(arguments: [
    "http://proxy.example:8080", "proxy.example:8080", "proxy.example", "https://proxy.example",
    "socks5h://user:word@proxy.example", "SOCKS4://[::1]:1080",
  ])
  func `a usable proxy in an environment variable is accepted`(proxy: String) {
    let setting = ProxySetting(
      .environment, isSecure: false, environment: ["http_proxy": proxy])
    #expect(setting.fault == nil && setting.name == "the variable http_proxy")
  }

  @Test func `through a socks5 proxy, the error for an unknown host recommends socks5h`()
    async throws
  {
    // The proxy accepts the SOCKS greeting, and then gets no request, because the client cannot
    // look up the host.
    let server = try RawServer { connection in
      guard !connection.read().isEmpty else { return }
      connection.write([5, 0])
      _ = connection.read()
    }
    defer { server.stop() }
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = .url(try #require(URL(string: "socks5://127.0.0.1:\(server.port)")))
    let client = CurlTransport(configuration: configuration)
    var request = WebRequest(url: try #require(URL(string: "http://server.invalid/")))
    request.timeout = .seconds(60)
    let error = await failure(.connectionFailed) { try await client.send(request) }
    #expect(error?.message.contains("could not look up the host") == true, "\(error as Any)")
    #expect(error?.message.contains("socks5h") == true, "\(error as Any)")
    #expect(server.connectionCount == 1)
  }

  static let undecodable = [
    "http://user:can%0aary@127.0.0.1:9", "http://user:canary%0d%0a@127.0.0.1:9",
    "http://us%0aer:canary@127.0.0.1:9", "http://user:%00canary@127.0.0.1:9",
    "https://user:can%1fary@127.0.0.1:9", "socks5h://user:can%09ary@127.0.0.1:9",
  ]

  @Test(.ownThreads, arguments: undecodable)
  func `a proxy URL with control characters, which libcurl would ignore, is rejected`(proxy: String)
    async throws
  {
    for scheme in ["http", "https"] {
      // A direct connection would fail with another error.
      let url = try #require(URL(string: "\(scheme)://192.0.2.1/"))
      var configuration = HTTPTransportConfiguration()
      configuration.proxy = .url(try #require(URL(string: proxy)))
      let client = CurlTransport(configuration: configuration)
      let error = await failure(.connectionFailed) { try await client.send(WebRequest(url: url)) }
      let expected = "the proxy setting, HTTPTransportConfiguration.proxy, has a control character"
      #expect(error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
      #expect(error.map { !everyText(of: $0).contains("ary") } == true)
    }
    await #expect(processExitsWith: .success) { [proxy] in
      setenv("ALL_PROXY", proxy, 1)
      let url = try #require(URL(string: "https://192.0.2.1/"))
      let error = await failure(.connectionFailed) {
        try await CurlTransport.shared.send(WebRequest(url: url))
      }
      let message = try #require(error?.message)
      try #require(message.hasPrefix("the proxy setting, the variable ALL_PROXY, has a control"))
    }
  }

  @Test(.ownThreads, arguments: ["http", "https"])
  func `a request to a host in no_proxy ignores a proxy URL with control characters`(
    scheme: String
  ) async {
    await #expect(processExitsWith: .success) { [scheme] in
      setenv("\(scheme)_proxy", "http://user:can%0aary@127.0.0.1:9", 1)
      setenv("no_proxy", "direct.invalid", 1)
      let direct = try #require(URL(string: "\(scheme)://www.direct.invalid/"))
      let failed = await failure(.connectionFailed) {
        try await CurlTransport.shared.send(WebRequest(url: direct))
      }
      try #require((failed?.cause as? CurlError)?.code == 6, "\(failed as Any)")
      let other = try #require(URL(string: "\(scheme)://other.invalid/"))
      let refused = await failure(.connectionFailed) {
        try await CurlTransport.shared.send(WebRequest(url: other))
      }
      let start = "the proxy setting, the variable \(scheme)_proxy, has a control character"
      try #require(refused?.message.hasPrefix(start) == true, "\(refused as Any)")
    }
  }

  @Test(.ownThreads, arguments: ["foo://user:canary@x", "ftp://x", "http://", "http://h:99999"])
  func `a request with an invalid https_proxy fails with an error that names the variable`(
    proxy: String
  ) async {
    await #expect(processExitsWith: .success) { [proxy] in
      setenv("https_proxy", proxy, 1)
      let url = try #require(URL(string: "https://server.example/"))
      let error = await failure(.connectionFailed) {
        try await CurlTransport.shared.send(WebRequest(url: url))
      }
      let message = try #require(error?.message)
      try #require(message.hasPrefix("the proxy setting, the variable https_proxy, "))
      try #require(!message.contains("canary") && !message.contains("refused"))
    }
  }

  @Test func `the error for an invalid configured proxy names the property`() async throws {
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = .url(try #require(URL(string: "ftp://proxy.example")))
    let client = CurlTransport(configuration: configuration)
    let url = try #require(URL(string: "https://server.example/"))
    let error = await failure(.connectionFailed) { try await client.send(WebRequest(url: url)) }
    let start = "the proxy setting, HTTPTransportConfiguration.proxy, has a scheme"
    #expect(error?.message.hasPrefix(start) == true, "\(String(describing: error))")
  }

  @Test func `the error for an unreachable server does not mention a proxy`() async throws {
    let closed = try ClosedPort()
    for host in ["127.0.0.1", "LOCALHOST"] {
      let url = try #require(URL(string: "http://\(host):\(closed.number)/"))
      let error = await failure(.connectionFailed) {
        try await CurlTransport.shared.send(WebRequest(url: url))
      }
      #expect(error?.message.contains("proxy") == false, "\(String(describing: error))")
    }
  }

  @Test(.ownThreads)
  func `the environment's proxy is used except for loopback hosts and hosts in no_proxy`() async {
    await #expect(processExitsWith: .success) {
      let proxy = try Server { _, _ in
        .response(LoopbackResponse(status: 200, body: Data("from the proxy".utf8)))
      }
      for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        setenv(name, "http://\(proxy.loopback.authority)", 1)
      }
      setenv("no_proxy", "direct.invalid", 1)
      let client = CurlTransport.shared
      let remote = try #require(URL(string: "http://server.example/"))
      try #require(try await client.send(WebRequest(url: remote)).text == "from the proxy")
      let server = try Server.answering()
      try #require(try await client.send(try server.request()).text == "hello")
      let excepted = try #require(URL(string: "http://direct.invalid/"))
      try #require((try? await client.send(WebRequest(url: excepted))) == nil)
      try #require(proxy.requests.count == 1)
      var configuration = HTTPTransportConfiguration()
      configuration.proxy = .none
      let direct = CurlTransport(configuration: configuration)
      let unknown = try #require(URL(string: "http://server.invalid/"))
      try #require((try? await direct.send(WebRequest(url: unknown))) == nil)
      try #require(proxy.requests.count == 1)
    }
  }
}
