import Foundation
import SQBasics
import SQCrypto
import SQLoopback
import SequencingOAuth

@testable import TestSupport

// The token endpoint: the authentication of clients, and the grants.
extension AuthorizationServer {
  func token(_ visit: Visit, _ rules: Rules) -> LoopbackReply {
    journal.expect(visit.request.query == nil, "a token request has no query", visit)
    if let nonce = rules.nonce, visit.sentProof?.nonce != nonce {
      return .json(
        ["error": "use_dpop_nonce", "error_description": "a nonce is needed"], status: 400,
        [("DPoP-Nonce", nonce)])
    }
    if rules.exchangesIdentities, visit.value("grant_type") == Self.exchangeGrant {
      return exchangeIdentity(visit)
    }
    guard let id = client(of: visit, rules) else {
      return .json(["error": "invalid_client"], status: 401)
    }
    switch visit.value("grant_type") {
    case "authorization_code": return redeem(visit, id, rules)
    case "refresh_token": return refresh(visit, id, rules)
    case "client_credentials":
      journal.expect(visit.value("scope") != "", "an empty scope is not sent", visit)
      let grant = Grant(
        clientID: id, scope: visit.value("scope"), resources: visit.form["resource"] ?? [])
      return issue(grant, visit, rules, refreshes: false)
    case Self.assertionGrant: return redeemAssertion(visit, id, rules)
    default: return .json(["error": "unsupported_grant_type"], status: 400)
    }
  }

  /// Returns the client's ID; `nil` if the client does not authenticate by its registered method.
  private func client(of visit: Visit, _ rules: Rules) -> String? {
    if let (id, secret) = Self.basic(visit) {
      let client = state.withLock { $0.clients[id] }
      guard ["client_secret_basic", "any"].contains(client?.method), client?.secret == secret,
        visit.form["client_secret"] == nil
      else { return nil }
      return id
    }
    guard let id = visit.value("client_id") else { return Self.assertedClient(visit) }
    if rules.documents[id] != nil { return visit.form["client_secret"] == nil ? id : nil }
    guard let client = state.withLock({ $0.clients[id] }) else { return nil }
    let sent = visit.value("client_secret")
    switch client.method {
    case "none": return sent == nil ? id : nil
    case "any": return id
    case "client_secret_post": return sent == client.secret ? id : nil
    case "private_key_jwt": return Self.assertedClient(visit) == id ? id : nil
    default: return nil
    }
  }

  /// Returns the user and the password of Basic, decoded as forms are (RFC 6749, section 2.3.1).
  private static func basic(_ visit: Visit) -> (String, String)? {
    guard let field = visit.request.header("authorization"), field.hasPrefix("Basic "),
      let data = Data(base64Encoded: String(field.dropFirst("Basic ".count)))
    else { return nil }
    let parts = String(decoding: data, as: UTF8.self).split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let decoded = parts.compactMap {
      $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
    return decoded.count == 2 ? (decoded[0], decoded[1]) : nil
  }

  /// Returns the subject of a client's assertion without verifying it; the tests verify the
  /// assertion later.
  private static func assertedClient(_ visit: Visit) -> String? {
    guard let text = visit.value("client_assertion") else { return nil }
    return SentAssertion(text)?.claims["sub"]?.string
  }

  private func redeem(_ visit: Visit, _ id: String, _ rules: Rules) -> LoopbackReply {
    guard let code = visit.value("code"),
      let grant = state.withLock({ $0.codes.removeValue(forKey: code) })
    else { return .json(["error": "invalid_grant"], status: 400) }
    journal.expect(grant.clientID == id, "the client of the code redeems it", visit)
    let verifier = visit.value("code_verifier") ?? ""
    journal.expect((43...128).contains(verifier.count), "a code verifier is sent", visit)
    let challenge = Base64URL.encode(Digest.sha256(verifier))
    journal.expect(challenge == grant.challenge, "the verifier fits the challenge", visit)
    journal.expect(
      visit.value("redirect_uri") == grant.redirectURI, "both requests have the same redirect URI",
      visit)
    journal.expect(
      visit.form["resource"] ?? [] == grant.resources,
      "both requests name the same resource", visit)
    return issue(grant, visit, rules, refreshes: rules.issuesRefreshTokens)
  }

  private func refresh(_ visit: Visit, _ id: String, _ rules: Rules) -> LoopbackReply {
    let token = visit.value("refresh_token") ?? ""
    guard let grant = state.withLock({ $0.refreshTokens.removeValue(forKey: token) }),
      grant.clientID == id
    else { return .json(["error": "invalid_grant"], status: 400) }
    journal.expect(
      visit.form["resource"] ?? [] == grant.resources, "a refresh names the resource", visit)
    return issue(grant, visit, rules, refreshes: true)
  }

  func issue(
    _ grant: Grant, _ visit: Visit, _ rules: Rules, refreshes: Bool
  ) -> LoopbackReply {
    var grant = grant
    if let scope = rules.grantedScope { grant.scope = scope }
    if rules.bindsTokens {
      journal.expect(visit.proof != nil, "a token request has a proof", visit)
      grant.key = visit.sentProof?.thumbprint
    }
    var answer: [String: JSONValue] = [
      "token_type": grant.key == nil ? "Bearer" : "DPoP", "expires_in": 3600,
    ]
    if rules.tellsScope, let scope = grant.scope { answer["scope"] = .string(scope) }
    state.withLock { state in
      let token = state.name("\(name)-token")
      state.tokens[token] = grant
      answer["access_token"] = .string(token)
      guard refreshes else { return }
      let refresh = state.name("\(name)-refresh")
      state.refreshTokens[refresh] = grant
      answer["refresh_token"] = .string(refresh)
    }
    return .json(answer)
  }
}
