/// The JWT bearer grant: the assertion of a registered client is exchanged for a token.
///
/// The subject is the client itself, or a user by name or by identifier. The assertion may also
/// come from one of ``SandboxOptions/trustedIssuers``. Its subject is then a workload or, in an
/// identity provider's grant, a user.
///
/// - SeeAlso: RFC 7523, section 2.1
enum JWTBearerGrant {
  static let type = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// Returns whether this grant, and not an extension, handles token requests of a grant type.
  static func handles(_ grantType: String, _ sandbox: SandboxState) -> Bool {
    grantType == type && sandbox.options.extensionGrants[type] == nil
  }

  /// Returns the client that the assertion of a token request names: by its issuer or by the
  /// workload of a trusted platform.
  ///
  /// The assertion is not verified yet.
  static func client(
    of request: SandboxRequest, _ sandbox: SandboxState
  ) throws(OAuthFault) -> SandboxClient {
    let text = try text(of: request)
    do throws(AssertionFault) {
      let assertion = try ReceivedAssertion(text)
      let issuer = try assertion.text("iss")
      guard let trusted = sandbox.trustedIssuer(issuer) else {
        return try client(ofIssuer: issuer, sandbox)
      }
      guard !assertion.isIdentityGrant else { throw foreignGrant }
      return try sandbox.client(ofWorkload: try assertion.text("sub"), trusted, for: nil)
    } catch {
      throw .invalidGrant("assertion: \(error.reason)")
    }
  }

  /// Issues a token for the assertion in a token request.
  ///
  /// `client` has authenticated, or the assertion names it.
  static func redeem(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    let text = try text(of: request)
    let name: String?
    do throws(AssertionFault) {
      name = try user(of: try ReceivedAssertion(text), from: client, &sandbox)
    } catch {
      throw .invalidGrant("assertion: \(error.reason)")
    }
    return try Grants.open(request, client, user: name, &sandbox)
  }

  private static func text(of request: SandboxRequest) throws(OAuthFault) -> String {
    guard let text = request.form("assertion") else {
      throw .invalidRequest("assertion is missing.")
    }
    return text
  }

  /// Verifies an assertion, and returns its user; `nil` if its subject is a client.
  private static func user(
    of assertion: ReceivedAssertion, from client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(AssertionFault) -> String? {
    let issuer = try assertion.text("iss")
    let subject = try assertion.text("sub")
    guard let trusted = sandbox.trustedIssuer(issuer) else {
      let signer = try Self.client(ofIssuer: issuer, sandbox)
      try assertion.check(keys: signer.keys, &sandbox)
      return subject == issuer ? nil : try user(subject, sandbox)
    }
    try assertion.check(keys: trusted.keys, isOfOther: true, &sandbox)
    guard assertion.isIdentityGrant else {
      _ = try sandbox.client(ofWorkload: subject, trusted, for: client.id)
      return nil
    }
    // Accept a grant only from its client; otherwise a stolen grant would be as good as a token.
    guard try assertion.text("client_id") == client.id else { throw foreignGrant }
    return try user(subject, sandbox)
  }

  private static let foreignGrant = AssertionFault("Its client_id is not the authenticated client.")

  private static func client(
    ofIssuer name: String, _ sandbox: SandboxState
  ) throws(AssertionFault) -> SandboxClient {
    guard let client = sandbox.client(name) else {
      throw AssertionFault("There is no client with the name of its issuer.")
    }
    return client
  }

  private static func user(
    _ subject: String, _ sandbox: SandboxState
  ) throws(AssertionFault) -> String {
    let user = sandbox.options.users.first { [$0.name, $0.subject].contains(subject) }
    guard let user else { throw AssertionFault("There is no such user.") }
    return user.name
  }
}
