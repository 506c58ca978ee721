import SQBasics
import SQFoundation
import SQLoopback
import SequencingOAuth

/// The server to which a client under check sends its requests.
///
/// The first component of a request's path selects the answer; the rest names the check.
final class ProbeServer: Sendable {
  private let loopback: LoopbackServer
  private let record = Record()

  /// The requests so far, and the closures to call for later requests.
  private final class Record: Sendable {
    private struct State {
      var requests: [LoopbackRequest] = []
      /// The closures that are called when a request to a path arrives.
      var arrivals: [String: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    var requests: [LoopbackRequest] { state.withLock(\.requests) }

    func add(_ request: LoopbackRequest) {
      let action = state.withLock { state in
        state.requests.append(request)
        return state.arrivals.removeValue(forKey: request.path)
      }
      action?()
    }

    func whenReached(_ path: String, _ action: @escaping @Sendable () -> Void) {
      let isReached = state.withLock { state in
        if state.requests.contains(where: { $0.path == path }) { return true }
        state.arrivals[path] = action
        return false
      }
      if isReached { action() }
    }
  }

  /// The length of the content at `/large` and, after decompression, at `/gzip`.
  static let largeSize = 100_000
  /// The length of an answer that a client should not wait for.
  static let longAnswer = Duration.seconds(20)

  /// Starts the server on a free port.
  init() throws(SQOAuthError) {
    let record = record
    var limits = LoopbackLimits()
    limits.connections = 512
    do throws(LoopbackError) {
      loopback = try LoopbackServer(limits: limits) { request in
        record.add(request)
        return await Self.answer(to: request)
      }
    } catch {
      throw SQOAuthError(
        .connectionFailed, "the check's server cannot listen on 127.0.0.1: \(error)", cause: error)
    }
  }

  /// Stops the server.
  func stop() async { await loopback.stop() }

  /// Returns the URL of a path on this server.
  func url(_ path: String) throws(SQOAuthError) -> URL {
    try WebRequest(url: "http://\(loopback.authority)\(path)").url
  }

  /// Returns the requests to a path, in order.
  func requests(to path: String) -> [LoopbackRequest] {
    record.requests.filter { $0.path == path }
  }

  /// Returns the paths of matching requests, with their queries, in order.
  func targets(beginningWith path: String) -> [String] {
    record.requests.map(\.target).filter { $0.hasPrefix(path) }
  }

  /// Calls a closure when a request to a path arrives; at once if one has already arrived.
  func whenReached(_ path: String, _ action: @escaping @Sendable () -> Void) {
    record.whenReached(path, action)
  }

  private static func answer(to request: LoopbackRequest) async -> LoopbackReply {
    let parts = request.path.split(separator: "/").map(String.init)
    switch parts.first {
    case "status": return status(Int(parts.dropFirst().first ?? "") ?? 200)
    case "large": return .response(LoopbackResponse(status: 200, body: large))
    case "gzip": return compressed(request.header("accept-encoding") ?? "")
    case "redirect":
      return .response(
        LoopbackResponse(status: 302, headers: [("Location", "/plain/redirected")]))
    case "short":
      return .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort".utf8))])
    case "lost": return .script([])
    case "drip": return .script([.send(head)] + drops)
    case "silent":
      return .script([.send(head + Data("a".utf8)), .wait(longAnswer)])
    case "hold":
      return .script([.wait(longAnswer), .send(head)])
    case "echo":
      return .response(LoopbackResponse(status: 200, body: request.body))
    default: return .response(LoopbackResponse(status: 200, headers: fields, body: plain))
    }
  }

  private static let plain = Data("hello".utf8)
  private static let large = Data(repeating: UInt8(ascii: "a"), count: largeSize)
  private static let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8)
  /// A byte every tenth of a second, for as long as ``longAnswer``.
  private static let drops: [LoopbackStep] = (0..<200).flatMap { _ -> [LoopbackStep] in
    [.send(Data("a".utf8)), .wait(.milliseconds(100))]
  }
  private static let fields = [
    ("X-Duty", "one"), ("Set-Cookie", "first=1; Path=/"), ("Set-Cookie", "second=2; Path=/"),
    ("Cache-Control", "max-age=3600"), ("ETag", "\"duty\""),
  ]

  private static func status(_ status: Int) -> LoopbackReply {
    .response(
      LoopbackResponse(
        status: status,
        headers: [("WWW-Authenticate", "Bearer realm=\"duty\""), ("Retry-After", "7")],
        body: plain))
  }

  /// Returns ``large``, compressed with gzip if the client accepts that.
  private static func compressed(_ accepted: String) -> LoopbackReply {
    guard accepted.contains("gzip"), let small = Data(base64Encoded: gzipped) else {
      return .response(LoopbackResponse(status: 200, body: large))
    }
    return .response(
      LoopbackResponse(status: 200, headers: [("Content-Encoding", "gzip")], body: small))
  }

  private static let gzipped =
    "H4sIAAAAAAACA+3BMQEAAADCoKzrX8IaHkABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArwaH"
    + "+uIboIYBAA=="
}
