#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The introspection endpoint, `/introspect` (RFC 7662), for clients with a secret.
enum IntrospectionEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    do throws(OAuthFault) {
      try TokenEndpoint.checkForm(request)
      let client = try ClientAuthenticator.client(of: request, sandbox)
      guard client.secret != nil else { throw .invalidClient("A secret is needed here.") }
      guard let token = request.form("token") else { throw .invalidRequest("token is missing.") }
      return Answer(json: describe(token, sandbox))
    } catch {
      return error.answer
    }
  }

  private static func describe(_ token: String, _ sandbox: SandboxState) -> SandboxJSON {
    if let (found, grant) = sandbox.ledger.activeAccessToken(token, at: sandbox.now) {
      let json = describe(grant, scopes: found.scopes, sandbox)
        .setting("token_type", to: "Bearer")
        .setting("iat", to: .integer(Int(found.issued.timeIntervalSince1970)))
      guard let expiry = found.expiry else { return json }
      return json.setting("exp", to: .integer(Int(expiry.timeIntervalSince1970)))
    }
    if let (_, grant) = sandbox.ledger.activeRefreshToken(token) {
      return describe(grant, scopes: grant.scopes, sandbox)
    }
    return ["active": false]
  }

  private static func describe(
    _ grant: TokenLedger.Grant, scopes: [String], _ sandbox: SandboxState
  ) -> SandboxJSON {
    let json: SandboxJSON = [
      "active": true, "client_id": .string(grant.clientID),
      "scope": .string(scopes.joined(separator: " ")), "iss": .string(sandbox.issuer),
    ]
    guard let user = grant.user else { return json }
    return json.setting("username", to: .string(user)).setting(
      "sub", to: .string(sandbox.subject(of: user)))
  }
}
