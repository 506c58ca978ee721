import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth

/// A small authorization server, whose user allows everything at once.
///
/// The server is as strict as a server may be. It refuses a wrong authentication and an unknown
/// redirect URI. The journal records every other rule that the client breaks: the rules of PKCE, or
/// the rule that the authorization and the token request name the same `resource`. Each token or
/// other name that the server makes begins with the server's name, so a test sees its origin.
final class AuthorizationServer: Sendable {
  /// A client that the server knows.
  struct Client: Sendable {
    var secret: String?
    /// The authentication method at the token endpoint; `any` accepts each method.
    var method = "none"
    var redirectURIs: [String] = []
    /// Whether a loopback redirect may have another port than the registered one.
    var acceptsAnyPort = false
  }

  /// What a user allowed.
  struct Grant: Sendable {
    let clientID: String
    var scope: String?
    var resources: [String]
    var redirectURI = ""
    var challenge = ""
    /// The thumbprint of the key that the token is bound to.
    var key: String?
  }

  /// The server's `iss` in redirects.
  enum Issuer: Sendable {
    case own, none
    case other(String)
  }

  /// The behaviour that a scenario sets.
  struct Rules: Sendable {
    /// The path of the issuer.
    var path = ""
    /// The path of the metadata; by default OAuth's well-known path, then the issuer's path.
    var metadataPath: String?
    /// Members that replace those of the usual metadata; `nil` removes a member.
    var members: [String: JSONValue?] = [:]
    /// The authentication methods that the metadata lists.
    var methods = ["none"]
    /// Whether clients may register themselves.
    var registers = true
    /// Members that replace those of the usual registration answer; `nil` removes a member.
    var registration: [String: JSONValue?] = [:]
    var issuer = Issuer.own
    /// The addresses of the clients' metadata documents, with the redirect URIs in them.
    var documents: [String: [String]] = [:]
    var issuesRefreshTokens = false
    /// The scope of the tokens; `nil` for the scope of the request.
    var grantedScope: String?
    /// Whether token responses say their scope.
    var tellsScope = true
    /// Whether tokens are bound to the key of a proof.
    var bindsTokens = false
    /// The nonce that proofs must have.
    var nonce: String?
    /// Returns the error for an assertion and a client's ID, or `nil` to accept the assertion;
    /// without this closure, the server accepts no assertion.
    var judgesAssertion: (@Sendable (SentAssertion, String) -> String?)?
    /// Whether the server exchanges users' ID tokens for assertions.
    var exchangesIdentities = false
    /// Answers that replace the server's own, by path; the own answer is kept if a closure returns
    /// `nil`.
    var replies: [String: @Sendable (Visit) async -> LoopbackReply?] = [:]
  }

  struct State: Sendable {
    var rules = Rules()
    var clients: [String: Client] = [:]
    var codes: [String: Grant] = [:]
    var tokens: [String: Grant] = [:]
    var refreshTokens: [String: Grant] = [:]
    var issued = 0

    /// Returns a name that this server never made before.
    mutating func name(_ text: String) -> String {
      issued += 1
      return "\(text)-\(issued)"
    }
  }

  let name: String
  let journal: Journal
  let state = Locked(State())
  private let server: PartyServer

  init(_ name: String, _ journal: Journal) throws {
    self.name = name
    self.journal = journal
    server = try PartyServer(name, journal)
    server.answer { [weak self] in await self?.reply(to: $0) ?? .status(503) }
  }

  var rules: Rules { state.withLock(\.rules) }
  var origin: String { server.origin }
  var issuer: String { origin + rules.path }

  func change(_ body: (inout Rules) -> Void) { state.withLock { body(&$0.rules) } }

  /// Ends the server, so that no connection reaches it any more.
  func stop() async { await server.stop() }

  /// Registers a client by hand.
  func know(_ id: String, _ client: Client) { state.withLock { $0.clients[id] = client } }

  /// Forgets all clients, as a server that restarts with an empty memory does.
  func forgetClients() { state.withLock { $0.clients = [:] } }

  /// Returns what a token is for; `nil` for a revoked token or a token of another server.
  func grant(of token: String) -> Grant? { state.withLock { $0.tokens[token] } }

  /// Refuses a token from now on.
  func revoke(_ token: String) { state.withLock { $0.tokens[token] = nil } }

  // MARK: Answers

  private func reply(to visit: Visit) async -> LoopbackReply {
    let rules = rules
    if let reply = await rules.replies[visit.path]?(visit) { return reply }
    switch visit.path {
    case rules.metadataPath ?? "/.well-known/oauth-authorization-server" + rules.path:
      return .json(metadata(rules))
    case rules.path + "/register" where rules.registers: return register(visit, rules)
    case rules.path + "/authorize": return authorize(visit, rules)
    case rules.path + "/token": return token(visit, rules)
    default: return .status(404)
    }
  }

  private func metadata(_ rules: Rules) -> [String: JSONValue] {
    let base = origin + rules.path
    var members: [String: JSONValue] = [
      "issuer": .string(base), "authorization_endpoint": "\(base)/authorize",
      "token_endpoint": "\(base)/token", "response_types_supported": ["code"],
      "grant_types_supported": ["authorization_code", "refresh_token"],
      "code_challenge_methods_supported": ["S256"],
      "token_endpoint_auth_methods_supported": .array(rules.methods.map(JSONValue.string)),
    ]
    if rules.registers { members["registration_endpoint"] = "\(base)/register" }
    if case .own = rules.issuer { members["authorization_response_iss_parameter_supported"] = true }
    if !rules.documents.isEmpty { members["client_id_metadata_document_supported"] = true }
    if rules.bindsTokens { members["dpop_signing_alg_values_supported"] = ["ES256"] }
    return members.changed(rules.members)
  }

  private func register(_ visit: Visit, _ rules: Rules) -> LoopbackReply {
    let asked = visit.json
    journal.expect(
      ["native", "web"].contains(asked["application_type"]?.string ?? ""),
      "a registration names the kind of program", visit)
    journal.expect(
      asked["grant_types"]?.array?.contains("refresh_token") == true,
      "a registration asks for refresh tokens", visit)
    let uris = asked["redirect_uris"]?.array?.compactMap(\.string) ?? []
    journal.expect(!uris.isEmpty, "a registration has redirect URIs", visit)
    let id = state.withLock { $0.name("\(name)-client") }
    let method = rules.methods.first ?? "none"
    var answer: [String: JSONValue] = [
      "client_id": .string(id), "redirect_uris": asked["redirect_uris"] ?? [],
      "client_name": asked["client_name"] ?? "", "token_endpoint_auth_method": .string(method),
    ]
    if method != "none" { answer["client_secret"] = "\(name)-secret" }
    answer = answer.changed(rules.registration)
    know(
      id,
      Client(
        secret: answer["client_secret"]?.string,
        method: answer["token_endpoint_auth_method"]?.string ?? "any",
        redirectURIs: answer["redirect_uris"]?.array?.compactMap(\.string) ?? []))
    return .json(answer, status: 201)
  }
}

extension [String: JSONValue] {
  /// Returns the members with `changes` made; `nil` removes a member.
  func changed(_ changes: [String: JSONValue?]) -> Self {
    var members = self
    for (name, value) in changes { members[name] = value }
    return members
  }
}
