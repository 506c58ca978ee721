import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth

@testable import LoopbackSupport

/// One request that a server of a party got, read by Foundation and not by the SDK's own readers.
struct Visit: Sendable {
  /// The name of the server.
  let server: String
  let request: LoopbackRequest
  /// The parameters of the query; a repeated one has several values.
  let query: [String: [String]]
  /// The parameters of the form in the body.
  let form: [String: [String]]

  init(_ server: String, _ request: LoopbackRequest) {
    self.server = server
    self.request = request
    query = Self.parameters(of: request.query ?? "")
    let isForm = request.header("content-type")?.hasPrefix("application/x-www-form-urlencoded")
    form = isForm == true ? Self.parameters(of: String(decoding: request.body, as: UTF8.self)) : [:]
  }

  var path: String { request.path }
  /// The members of the JSON object in the body.
  var json: [String: JSONValue] {
    (try? JSONDecoder().decode([String: JSONValue].self, from: request.body)) ?? [:]
  }
  /// The token in the `Authorization` field, with any scheme; `nil` for Basic and for none.
  var token: String? {
    guard let parts = request.header("authorization")?.split(separator: " ", maxSplits: 1),
      parts.count == 2, parts[0].lowercased() != "basic"
    else { return nil }
    return String(parts[1])
  }
  /// The scheme of the `Authorization` field.
  var scheme: String? {
    request.header("authorization")?.split(separator: " ").first.map { $0.lowercased() }
  }
  var proof: String? { request.header("dpop") }
  /// Everything that the client sent, to look for texts that must not be there.
  var text: String {
    let fields = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    let body = String(decoding: request.body, as: UTF8.self)
    return [request.target, request.target.removingPercentEncoding ?? "", fields, body]
      .joined(separator: "\n")
  }

  /// Returns the only value of a parameter of the query or the form.
  func value(_ name: String) -> String? {
    let values = query[name] ?? form[name] ?? []
    return values.count == 1 ? values[0] : nil
  }

  private static func parameters(of text: String) -> [String: [String]] {
    let query = text.replacingOccurrences(of: "+", with: "%20")
    var components = URLComponents()
    components.percentEncodedQuery = query
    return Dictionary(
      (components.queryItems ?? []).map { ($0.name, [$0.value ?? ""]) }, uniquingKeysWith: +)
  }
}

/// The requests that all servers of a party got, in order, and the mistakes that they found.
final class Journal: Sendable {
  private let state = Locked<(visits: [Visit], faults: [String])>(([], []))

  var visits: [Visit] { state.withLock(\.visits) }
  var faults: [String] { state.withLock(\.faults) }

  func add(_ visit: Visit) { state.withLock { $0.visits.append(visit) } }

  /// Notes a mistake of the client unless a rule holds.
  func expect(_ condition: Bool, _ rule: String, _ visit: Visit) {
    guard !condition else { return }
    state.withLock {
      $0.faults.append("\(rule): \(visit.server) \(visit.request.method) \(visit.request.target)")
    }
  }
}

/// A server of a party on a port of its own.
final class PartyServer: Sendable {
  private let server: Server
  private let answerer: Answerer
  let origin: String

  /// Starts a server whose requests the journal notes.
  init(_ name: String, _ journal: Journal) throws {
    let answerer = Answerer()
    self.answerer = answerer
    server = try Server { request, _ in
      let visit = Visit(name, request)
      journal.add(visit)
      guard let answer = answerer.answer.withLock(\.self) else {
        return .response(LoopbackResponse(status: 404))
      }
      return await answer(visit)
    }
    origin = "http://\(server.loopback.authority)"
  }

  /// Answers with a closure from now on; before, everything is 404.
  func answer(_ answer: @escaping @Sendable (Visit) async -> LoopbackReply) {
    answerer.answer.withLock { $0 = answer }
  }

  /// The closure that answers, which may refer to the owner of the server.
  private final class Answerer: Sendable {
    let answer = Locked<(@Sendable (Visit) async -> LoopbackReply)?>(nil)
  }
}

extension LoopbackReply {
  /// Returns an answer with JSON.
  static func json(
    _ members: [String: JSONValue], status: Int = 200, _ fields: [(String, String)] = []
  ) -> LoopbackReply {
    let body = (try? JSONEncoder().encode(members)) ?? Data()
    return .response(
      LoopbackResponse(
        status: status,
        headers: [("Content-Type", "application/json")] + fields.map { (name: $0.0, value: $0.1) },
        body: body))
  }

  /// Returns an answer with any text.
  static func text(
    _ text: String, status: Int = 200, type: String = "application/json",
    _ fields: [(String, String)] = []
  ) -> LoopbackReply {
    .response(
      LoopbackResponse(
        status: status,
        headers: [("Content-Type", type)] + fields.map { (name: $0.0, value: $0.1) },
        body: Data(text.utf8)))
  }

  static func status(_ status: Int, _ fields: [(String, String)] = []) -> LoopbackReply {
    .text("", status: status, type: "text/plain", fields)
  }
}
