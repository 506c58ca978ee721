import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth

// The authorization endpoint, whose user agrees at once.
extension AuthorizationServer {
  func authorize(_ visit: Visit, _ rules: Rules) -> LoopbackReply {
    journal.expect(
      visit.query.values.allSatisfy { $0.count == 1 }, "no parameter is repeated", visit)
    journal.expect(visit.value("response_type") == "code", "the response is a code", visit)
    journal.expect(visit.value("code_challenge_method") == "S256", "PKCE with S256", visit)
    journal.expect(visit.value("code_challenge")?.count == 43, "a code challenge is sent", visit)
    journal.expect(visit.value("state")?.isEmpty == false, "a state is sent", visit)
    journal.expect(visit.value("scope") != "", "an empty scope is not sent", visit)
    guard let id = visit.value("client_id"), let redirect = visit.value("redirect_uri"),
      let uris = redirectURIs(of: id, rules)
    else { return refused("invalid_request", "unknown client") }
    let isKnown = uris.contains {
      $0 == redirect || acceptsAnyPort(id, rules) && Self.isSame($0, redirect)
    }
    guard isKnown else { return refused("invalid_request", "unregistered redirect URI") }
    let grant = Grant(
      clientID: id, scope: visit.value("scope"), resources: visit.query["resource"] ?? [],
      redirectURI: redirect, challenge: visit.value("code_challenge") ?? "")
    let code = state.withLock { state in
      let code = state.name("\(name)-code")
      state.codes[code] = grant
      return code
    }
    var items = [("code", code), ("state", visit.value("state") ?? "")]
    switch rules.issuer {
    case .own: items.append(("iss", issuer))
    case .none: break
    case .other(let text): items.append(("iss", text))
    }
    return .status(302, [("Location", redirect + "?" + Self.query(items))])
  }

  private func redirectURIs(of id: String, _ rules: Rules) -> [String]? {
    rules.documents[id] ?? state.withLock { $0.clients[id]?.redirectURIs }
  }

  private func acceptsAnyPort(_ id: String, _ rules: Rules) -> Bool {
    rules.documents[id] != nil || state.withLock { $0.clients[id]?.acceptsAnyPort == true }
  }

  /// Returns whether a redirect URI without its port is a known URI (RFC 8252, section 7.3).
  private static func isSame(_ known: String, _ redirect: String) -> Bool {
    guard var components = URLComponents(string: redirect) else { return false }
    components.port = nil
    return components.string == known
  }

  private static func query(_ items: [(String, String)]) -> String {
    var components = URLComponents()
    components.queryItems = items.map { URLQueryItem(name: $0.0, value: $0.1) }
    return components.percentEncodedQuery ?? ""
  }

  private func refused(_ error: String, _ description: String) -> LoopbackReply {
    .json(["error": .string(error), "error_description": .string(description)], status: 400)
  }
}
