import Foundation
import SQLoopback
import SequencingOAuth

@testable import TestSupport

/// A request that a server of a ``Party`` got, read by Foundation and not by the SDK's parsers.
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
  /// The token in the `Authorization` field, with any scheme but Basic; `nil` if there is none.
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
  /// The proof with its claims; `nil` if there is none or it is unreadable.
  var sentProof: SentProof? { proof.flatMap { try? SentProof($0) } }
  /// The scopes that the request asks for; `nil` without the parameter.
  var scopes: Set<String>? {
    value("scope").map { Set($0.split(separator: " ").map(String.init)) }
  }
  /// Everything that the client sent, to look for texts that must not be there.
  var text: String {
    let fields = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    let body = String(decoding: request.body, as: UTF8.self)
    return [request.target, request.target.removingPercentEncoding ?? "", fields, body]
      .joined(separator: "\n")
  }

  /// Returns the value of a parameter of the query or the form; `nil` for none and for several.
  func value(_ name: String) -> String? {
    let values = query[name] ?? form[name] ?? []
    return values.count == 1 ? values[0] : nil
  }

  /// Returns the text of a fault: the rule that the request breaks, and the request.
  func fault(_ rule: String) -> String {
    "\(rule): \(server) \(request.method) \(request.target)"
  }

  private static func parameters(of text: String) -> [String: [String]] {
    let query = text.replacingOccurrences(of: "+", with: "%20")
    var components = URLComponents()
    components.percentEncodedQuery = query
    return Dictionary(
      (components.queryItems ?? []).map { ($0.name, [$0.value ?? ""]) }, uniquingKeysWith: +)
  }
}
