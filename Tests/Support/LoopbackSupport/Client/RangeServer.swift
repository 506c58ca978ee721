import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import TestSupport

/// A server of one resource with ranges (RFC 9110, section 14) that can also fail in several ways.
final class RangeServer: Sendable {
  /// The server's behaviour for one request.
  enum Fault: Sendable {
    /// The server closes the connection after this number of bytes of content.
    case cut(after: Int)
    /// The server sends this number of bytes and then nothing more.
    case stall(after: Int)
    /// The server does not answer until the gate opens.
    case hold(Gate)
    /// The server sends this answer instead of the resource.
    case reply(LoopbackReply)
  }

  struct Resource: Sendable {
    var content: Data
    /// `ETag`, `Last-Modified`, `Date` and similar fields.
    var fields: [(name: String, value: String)]
    var hasRanges = true
    /// Whether a complete answer announces its length.
    var hasLength = true
  }

  private struct State {
    var resource: Resource
    var faults: [Fault]
  }

  private let state: Shared
  private let server: Server

  init(
    _ content: Data, _ fields: [(name: String, value: String)] = [("ETag", #""v1""#)],
    faults: [Fault] = []
  ) throws {
    let state = Shared(State(resource: Resource(content: content, fields: fields), faults: faults))
    self.state = state
    server = try Server { request, _ in
      let fault: Fault? = state.locked.withLock { state in
        state.faults.isEmpty ? nil : state.faults.removeFirst()
      }
      if case .hold(let gate)? = fault { await gate.pass() }
      return Self.reply(state.locked.withLock(\.resource), request, fault)
    }
  }

  var requests: [LoopbackRequest] { server.requests }
  var ranges: [String?] { requests.map { $0.header("range") } }
  func request(_ path: String = "/file?key=SECRET") throws -> WebRequest {
    try server.request("GET", path)
  }

  func change(_ change: (inout Resource) -> Void) {
    state.locked.withLock { change(&$0.resource) }
  }

  func fail(_ faults: Fault...) {
    state.locked.withLock { $0.faults += faults }
  }

  private static func reply(
    _ resource: Resource, _ request: LoopbackRequest, _ fault: Fault?
  ) -> LoopbackReply {
    if case .reply(let reply)? = fault { return reply }
    let response = resource.response(to: request)
    var head = "HTTP/1.1 \(response.status) Said\r\n"
    for field in response.headers { head += "\(field.name): \(field.value)\r\n" }
    let isLengthKnown = resource.hasLength || response.status != 200
    if isLengthKnown { head += "Content-Length: \(response.body.count)\r\n" }
    // An answer without Content-Length is chunked: if the last chunk is missing, the client notices
    // that the answer was cut off.
    head += isLengthKnown ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n"
    func framed(_ data: Data) -> Data {
      if isLengthKnown || data.isEmpty { return data }
      return Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8)
    }
    switch fault {
    case .cut(let count)?:
      return .script([.send(Data(head.utf8) + framed(response.body.prefix(count)))])
    case .stall(let count)?:
      return .script([
        .send(Data(head.utf8) + framed(response.body.prefix(count))), .wait(.seconds(60)),
      ])
    default:
      let end = Data((isLengthKnown ? "" : "0\r\n\r\n").utf8)
      return .script([.send(Data(head.utf8) + framed(response.body) + end)])
    }
  }

  /// A class around the lock, so that the server's closure can capture it before `self` is
  /// complete.
  private final class Shared: Sendable {
    let locked: Locked<State>
    init(_ state: State) { locked = Locked(state) }
  }
}

extension RangeServer.Resource {
  fileprivate func response(to request: LoopbackRequest) -> LoopbackResponse {
    let total = content.count
    let validators = fields.filter { ["ETag", "Last-Modified"].contains($0.name) }.map(\.value)
    guard hasRanges, let range = request.header("range"), range.hasPrefix("bytes="),
      range.hasSuffix("-"), let start = Int(range.dropFirst(6).dropLast()),
      request.header("if-range").map({ validators.contains($0) }) ?? true
    else { return LoopbackResponse(status: 200, headers: fields, body: content) }
    guard start < total else {
      return LoopbackResponse(
        status: 416, headers: fields + [("Content-Range", "bytes */\(total)")])
    }
    return LoopbackResponse(
      status: 206, headers: fields + [("Content-Range", "bytes \(start)-\(total - 1)/\(total)")],
      body: Data(content.dropFirst(start)))
  }
}
