/// The JWT bearer grant: the assertion of a registered client is exchanged for a token.
///
/// The subject is the client itself, or a user by name or by identifier. The assertion may also
/// come from one of ``SandboxOptions/trustedIssuers``. Its subject is then a workload or, in an
/// identity provider's grant, a user.
///
/// - SeeAlso: RFC 7523, section 2.1
enum JWTBearerGrant {
  static let type = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// Issues a token for the assertion in a token request.
  ///
  /// `client` is the authenticated client. If it is `nil`, the assertion itself names the client:
  /// by its issuer or by the workload of a trusted platform.
  static func redeem(
    _ request: SandboxRequest, _ client: SandboxClient?, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let text = request.form("assertion") else {
      throw .invalidRequest("assertion is missing.")
    }
    let (issuer, user): (SandboxClient, String?)
    do throws(AssertionFault) {
      (issuer, user) = try parties(of: try ReceivedAssertion(text), for: client, &sandbox)
    } catch {
      throw .invalidGrant("assertion: \(error.reason)")
    }
    return try Grants.open(request, client ?? issuer, user: user, &sandbox)
  }

  private static func parties(
    of assertion: ReceivedAssertion, for client: SandboxClient?, _ sandbox: inout SandboxState
  ) throws(AssertionFault) -> (SandboxClient, user: String?) {
    let issuer = try assertion.text("iss")
    let subject = try assertion.text("sub")
    if let trusted = sandbox.trustedIssuer(issuer) {
      try assertion.check(keys: trusted.keys, isOfOther: true, &sandbox)
      guard assertion.isIdentityGrant else {
        return (try sandbox.client(ofWorkload: subject, trusted, for: client?.id), nil)
      }
      // Accept a grant only from its client; otherwise a stolen grant would be as good as a token.
      guard let client, try assertion.text("client_id") == client.id else {
        throw AssertionFault("Its client_id is not the authenticated client.")
      }
      return (client, try user(subject, sandbox))
    }
    guard let client = sandbox.client(issuer) else {
      throw AssertionFault("There is no client with the name of its issuer.")
    }
    try assertion.check(keys: client.keys, &sandbox)
    return (client, subject == issuer ? nil : try user(subject, sandbox))
  }

  private static func user(
    _ subject: String, _ sandbox: SandboxState
  ) throws(AssertionFault) -> String {
    let user = sandbox.options.users.first { [$0.name, $0.subject].contains(subject) }
    guard let user else { throw AssertionFault("There is no such user.") }
    return user.name
  }
}
