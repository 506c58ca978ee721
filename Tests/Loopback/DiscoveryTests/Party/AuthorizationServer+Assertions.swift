import Foundation
import SQBasics
import SQCrypto
import SQLoopback
import SequencingOAuth

// Grants whose assertions come from elsewhere: a workload's platform, or a company's identity
// provider.
extension AuthorizationServer {
  static let assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  static let exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
  private static let idJAG = "urn:ietf:params:oauth:token-type:id-jag"

  /// Issues a token for an assertion; any refusal is final for the client.
  ///
  /// - SeeAlso: RFC 7523, section 2.1
  func redeemAssertion(_ visit: Visit, _ id: String, _ rules: Rules) -> LoopbackReply {
    guard let judge = rules.judgesAssertion else {
      return .json(["error": "unsupported_grant_type"], status: 400)
    }
    guard let assertion = visit.value("assertion").flatMap(SentAssertion.init) else {
      return .json(["error": "invalid_grant"], status: 400)
    }
    if let error = judge(assertion, id) {
      return .json(["error": .string(error)], status: 400)
    }
    journal.expect(visit.value("scope") != "", "an empty scope is not sent", visit)
    let grant = Grant(
      clientID: id, scope: visit.value("scope"),
      resources: visit.form["resource"] ?? [assertion.claims["resource"]?.string ?? ""])
    return issue(grant, visit, rules, refreshes: false)
  }

  /// Exchanges a user's ID token for an assertion for another authorization server, as an identity
  /// provider of a company does.
  ///
  /// - SeeAlso: Identity Assertion JWT Authorization Grant (draft), section 4
  func exchangeIdentity(_ visit: Visit) -> LoopbackReply {
    journal.expect(
      visit.value("requested_token_type") == Self.idJAG, "the exchange asks for an ID-JAG", visit)
    journal.expect(
      visit.value("subject_token_type") == "urn:ietf:params:oauth:token-type:id_token",
      "the exchange shows an ID token", visit)
    journal.expect(
      visit.value("subject_token")?.isEmpty == false, "the exchange has a subject token", visit)
    guard let audience = visit.value("audience"), let resource = visit.value("resource") else {
      journal.expect(false, "the exchange names the audience and the resource", visit)
      return .json(["error": "invalid_request"], status: 400)
    }
    let claims: [String: JSONValue] = [
      "iss": .string(issuer), "sub": "user", "aud": .string(audience),
      "resource": .string(resource), "client_id": .string(visit.value("client_id") ?? ""),
      "jti": .string(state.withLock { $0.name("\(name)-assertion") }),
    ]
    return .json([
      "access_token": .string(Self.token(type: "oauth-id-jag+jwt", claims)),
      "issued_token_type": .string(Self.idJAG), "token_type": "N_A", "expires_in": 300,
    ])
  }

  /// Returns a JWT with a made-up signature, which none of the tests' servers verifies.
  static func token(type: String, _ claims: [String: JSONValue]) -> String {
    func part(_ members: [String: JSONValue]) -> String {
      Base64URL.encode((try? JSONEncoder().encode(members)) ?? Data())
    }
    return "\(part(["alg": "ES256", "typ": .string(type)])).\(part(claims)).c2lnbmF0dXJl"
  }

  /// Returns the error for an identity provider's assertion for a client and a resource; `nil` if
  /// the assertion is right.
  func judge(
    _ assertion: SentAssertion, for resource: String, client id: String
  ) -> String? {
    let audiences: [JSONValue] = [.string(issuer), .string(issuer + "/")]
    let isRight =
      assertion.header["typ"] == "oauth-id-jag+jwt"
      && audiences.contains(assertion.claims["aud"] ?? .null)
      && assertion.claims["client_id"] == .string(id)
      && assertion.claims["resource"] == .string(resource)
    return isRight ? nil : "invalid_grant"
  }
}
