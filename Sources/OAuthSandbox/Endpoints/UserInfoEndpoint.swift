/// The endpoint of the claims about a token's user, `/userinfo`, as JSON or as a signed JWT.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.3
enum UserInfoEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet || request.method == "POST" else { return .methodNotAllowed("GET, POST") }
    do throws(APIFault) {
      let access = try ProtectedAPI.access(request, anyOf: ["openid"], &sandbox)
      guard let identity = access.grant.identity else {
        throw APIFault(
          TokenRefusal(
            403, "insufficient_scope", "The token's grant has no identity of a user."))
      }
      return answer(access, identity, &sandbox)
    } catch {
      return error.answer
    }
  }

  private static func answer(
    _ access: ProtectedAPI.Access, _ identity: Identity, _ sandbox: inout SandboxState
  ) -> Answer {
    let user = identity.signIn.user
    let claims = sandbox.adding(
      userClaims: user, access.token.scopes, identity.claims.userInfo,
      to: ["sub": .string(sandbox.subject(of: user))])
    var fault: SandboxUserInfoFault?
    if case .userInfo(let due) = sandbox.plan.take(.userInfo, at: .userInfo) {
      fault = due
    }
    guard let client = sandbox.client(access.grant.clientID),
      let algorithm = client.userInfoAlgorithm,
      let key = sandbox.signingKey(algorithm, for: client)
    else { return fault?.answer(claims) ?? Answer(json: claims) }
    let signed = claims.setting("iss", to: .string(sandbox.issuer))
      .setting("aud", to: .string(client.id))
    let jwt = SandboxJWT(signed, key: key, namesKey: sandbox.options.openID.namesKeys)
    return fault?.answer(jwt) ?? token(jwt.signed)
  }

  /// Returns an answer whose body is a signed JWT.
  static func token(_ text: String) -> Answer {
    Answer(
      status: 200,
      headers: [("Content-Type", "application/jwt"), ("Cache-Control", "no-store")],
      content: .text(text))
  }
}
