import SQFoundation

/// The endpoint that takes a sign-in's parameters from the client itself: `/par`.
///
/// - SeeAlso: RFC 9126, section 2
enum PushedAuthorizationEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    ClientAuthenticator.answer(request, &sandbox) { client, sandbox throws(OAuthFault) in
      guard request.form("client_id") == client.id else {
        throw .invalidRequest("client_id is missing or names another client.")
      }
      let parameters = try sandbox.addingKey(
        of: request, to: try parameters(of: request, client, sandbox))
      guard parameters.value("request_uri") == nil else {
        throw .invalidRequest("A pushed request must not have a request_uri.")
      }
      guard let redirectURI = parameters.value("redirect_uri"),
        RedirectURIs.contains(redirectURI, in: client.redirectURIs)
      else { throw .invalidRequest("redirect_uri is missing or not registered.") }
      _ = try CheckedAuthorization(parameters, client, sandbox)
      return begin(client, parameters, &sandbox)
    }
  }

  /// The parameters that authenticate the client, which are not part of the sign-in.
  private static let ofClient: Set = [
    "client_secret", "client_assertion", "client_assertion_type",
  ]

  /// Returns the parameters of the sign-in; a signed request must contain all of them.
  ///
  /// - SeeAlso: RFC 9126, section 3
  private static func parameters(
    of request: SandboxRequest, _ client: SandboxClient, _ sandbox: SandboxState
  ) throws(OAuthFault) -> [SandboxParameter] {
    let plain = request.form.filter { !Self.ofClient.contains($0.name) }
    do throws(RequestObjectFault) {
      let parameters = try RequestObject.parameters(of: plain, client, sandbox)
      let isSigned = parameters != plain
      guard !isSigned || Set(plain.map(\.name)) == ["request", "client_id"] else {
        throw RequestObjectFault(
          code: "invalid_request", description: "A signed request must contain all parameters.")
      }
      return parameters
    } catch {
      throw OAuthFault(code: error.code, description: error.description)
    }
  }

  private static func begin(
    _ client: SandboxClient, _ parameters: [SandboxParameter], _ sandbox: inout SandboxState
  ) -> Answer {
    let lifetime = sandbox.options.pushedRequestLifetime
    let now = sandbox.now
    let reference = sandbox.pushed.add(
      PushedAuthorizations.Request(
        clientID: client.id, parameters: parameters,
        expiry: now.addingTimeInterval(lifetime.timeInterval)), at: now)
    return Answer(
      status: 201,
      json: [
        "request_uri": .string(reference),
        "expires_in": .integer(lifetime.wholeSeconds),
      ])
  }
}
