import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth

@testable import TestSupport

/// A small resource server, which accepts the tokens of the authorization servers that it lists.
final class ResourceServer: Sendable {
  /// The reason for a refusal.
  enum Reason: Sendable {
    case noToken, wrongToken
  }

  /// The behaviour that a scenario sets.
  struct Rules: Sendable {
    /// The path of the resource.
    var path = "/mcp"
    /// The path of the metadata.
    var metadataPath = "/.well-known/oauth-protected-resource/mcp"
    /// The identifier in the metadata; `nil` for the resource's address.
    var identifier: String?
    /// The issuers in the metadata; `nil` for the issuers of `servers`.
    var issuers: [String]?
    /// Members that replace those of the usual metadata; `nil` removes a member.
    var members: [String: JSONValue?] = [:]
    /// The authorization servers whose tokens are accepted.
    var servers: [AuthorizationServer] = []
    /// Whether the challenge has the address of the metadata.
    var namesMetadata = true
    /// Further parameters of the challenge of a 401.
    var challenge = ""
    /// Whether the metadata and the challenges demand tokens that are bound to a key.
    var demandsProof = false
    /// The nonce that proofs must have.
    var nonce: String?
    /// Returns the scopes that a request needs, and the challenge of the 403 response if the token
    /// lacks one of the scopes.
    var demand: (@Sendable (Visit) -> (scopes: [String], challenge: String)?)?
    /// Answers that replace the server's own, by path; the own answer is kept if a closure returns
    /// `nil`.
    var replies: [String: @Sendable (Visit) async -> LoopbackReply?] = [:]
  }

  private let journal: Journal
  private let state = Locked(Rules())
  private let server: PartyServer

  init(_ name: String, _ journal: Journal) throws {
    self.journal = journal
    server = try PartyServer(name, journal)
    server.answer { [weak self] in await self?.reply(to: $0) ?? .status(503) }
  }

  var rules: Rules { state.withLock(\.self) }
  var origin: String { server.origin }
  var address: String { origin + rules.path }
  var metadataAddress: String { origin + rules.metadataPath }

  func change(_ body: (inout Rules) -> Void) { state.withLock { body(&$0) } }

  // MARK: Answers

  private func reply(to visit: Visit) async -> LoopbackReply {
    let rules = rules
    if let reply = await rules.replies[visit.path]?(visit) { return reply }
    switch visit.path {
    case rules.metadataPath: return .json(metadata(rules))
    case rules.path: return resource(visit, rules)
    default: return .status(404)
    }
  }

  private func metadata(_ rules: Rules) -> [String: JSONValue] {
    let issuers = rules.issuers ?? rules.servers.map(\.issuer)
    var members: [String: JSONValue] = [
      "resource": .string(rules.identifier ?? origin + rules.path),
      "authorization_servers": .array(issuers.map(JSONValue.string)),
      "bearer_methods_supported": ["header"],
    ]
    if rules.demandsProof { members["dpop_signing_alg_values_supported"] = ["ES256"] }
    return members.changed(rules.members)
  }

  private func resource(_ visit: Visit, _ rules: Rules) -> LoopbackReply {
    journal.expect(visit.request.query == nil, "the URL has no query", visit)
    guard let token = visit.token else { return refusal(.noToken, rules) }
    guard let grant = rules.servers.lazy.compactMap({ $0.grant(of: token) }).first else {
      return refusal(.wrongToken, rules)
    }
    journal.expect(
      grant.resources == [rules.identifier ?? origin + rules.path],
      "the token is for this resource", visit)
    journal.expect(
      visit.scheme == (grant.key == nil ? "bearer" : "dpop"), "the scheme fits the token", visit)
    if let nonce = rules.nonce, visit.sentProof?.nonce != nonce {
      return .status(
        401,
        [
          ("WWW-Authenticate", challenge(#"error="use_dpop_nonce""#, rules)),
          ("DPoP-Nonce", nonce),
        ])
    }
    if let demand = rules.demand?(visit) {
      let scopes = grant.scope?.split(separator: " ").map(String.init) ?? []
      guard Set(scopes).isSuperset(of: demand.scopes) else {
        return .status(403, [("WWW-Authenticate", challenge(demand.challenge, rules))])
      }
    }
    return .text("hello", type: "text/plain")
  }

  private func refusal(_ reason: Reason, _ rules: Rules) -> LoopbackReply {
    let error = reason == .wrongToken ? #"error="invalid_token""# : ""
    let parts = [error, rules.challenge].filter { !$0.isEmpty }
    return .status(
      401, [("WWW-Authenticate", challenge(parts.joined(separator: ", "), rules))])
  }

  private func challenge(_ parameters: String, _ rules: Rules) -> String {
    let address = rules.namesMetadata ? #"resource_metadata="\#(origin + rules.metadataPath)""# : ""
    let all = [parameters, address].filter { !$0.isEmpty }.joined(separator: ", ")
    return (rules.demandsProof ? "DPoP " : "Bearer ") + (all.isEmpty ? #"realm="tests""# : all)
  }
}
