import SQBasics
import SQFoundation
import SQLoopback
import SequencingOAuth

// The duties about responses, and about what a client must not do by itself.
extension TransportProbe {
  func checkStatus() async throws {
    for status in [200, 201, 204, 301, 400, 401, 403, 404, 407, 429, 500, 503, 599] {
      let response = try await send(WebRequest(url: try server.url("/status/\(status)/status")))
      try require(response.status == status, "it returns \(response.status) for \(status)")
    }
  }

  func checkResponseFields() async throws {
    let fields = try await send(WebRequest(url: try server.url("/plain/response-fields"))).headers
    try require(fields["x-duty"] == "one", "the response lacks the field X-Duty")
    let cookies = fields.values(for: "set-cookie")
    try require(
      cookies == ["first=1; Path=/", "second=2; Path=/"],
      "two Set-Cookie fields became \(cookies.count), or their values changed")
    let refusal = try await send(WebRequest(url: try server.url("/status/401/fields"))).headers
    try require(
      refusal["WWW-Authenticate"] == "Bearer realm=\"duty\"", "a 401 lacks its WWW-Authenticate")
  }

  func checkTruncation() async throws {
    _ = try await failure(
      of: WebRequest(url: try server.url("/short/truncation")),
      instead: "5 of 100 announced bytes count as a whole response")
  }

  func checkOnce() async throws {
    let paths = ["/plain/once", "/status/429/once", "/status/503/once", "/lost/once"]
    let requests = try paths.map { path in
      WebRequest(
        method: "POST", url: try server.url(path),
        headers: ["Content-Type": "application/x-www-form-urlencoded"],
        body: .bytes(Data("grant_type=refresh_token".utf8)))
    }
    await withTaskGroup { group in
      // The results do not matter here; other duties cover them.
      for request in requests { group.addTask { _ = try? await send(request) } }
    }
    for path in paths {
      let count = server.requests(to: path).count
      try require(count == 1, "it sends a request to \(path) \(count) times")
    }
  }

  func checkRedirects() async throws {
    let response = try await send(WebRequest(url: try server.url("/redirect/redirects")))
    try require(response.status == 302, "it returns \(response.status) for a redirect")
    try require(
      server.requests(to: "/plain/redirected").isEmpty, "it follows a redirect")
  }

  func checkCookies() async throws {
    for _ in 0..<2 {
      let found = try await received("GET", "/plain/cookies")
      try require(found.header("cookie") == nil, "it sends a cookie of an earlier response")
    }
  }

  func checkCache() async throws {
    for _ in 0..<2 { _ = try await send(WebRequest(url: try server.url("/plain/cache"))) }
    let requests = server.requests(to: "/plain/cache")
    try require(requests.count == 2, "the second of two requests does not reach the server")
    try require(
      requests.allSatisfy { $0.header("if-none-match") == nil }, "it adds a condition to a request")
  }

  func checkCompression() async throws {
    let response = try await send(WebRequest(url: try server.url("/gzip/compression")))
    let isPlain = response.body == Data(repeating: UInt8(ascii: "a"), count: ProbeServer.largeSize)
    try require(isPlain, "the body of a gzip response is not the decompressed content")
    let accepted = server.requests(to: "/gzip/compression").last?.header("accept-encoding") ?? ""
    try require(accepted.contains("gzip"), "its Accept-Encoding does not offer gzip")
  }

  func checkProgress() async throws {
    let last = Locked(HTTPProgress())
    let content = Data(repeating: 1, count: 20_000)
    var request = WebRequest(
      method: "POST", url: try server.url("/large/progress"), body: .bytes(content))
    request.progress = { progress in last.withLock { $0 = progress } }
    _ = try await send(request)
    let found = last.withLock(\.self)
    try require(
      found.sent == Int64(content.count),
      "the last progress reports \(found.sent) sent bytes instead of \(content.count)")
    try require(
      found.received == Int64(ProbeServer.largeSize),
      "the last progress reports \(found.received) received bytes instead of "
        + "\(ProbeServer.largeSize)")
  }
}
