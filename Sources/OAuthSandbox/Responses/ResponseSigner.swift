import SQBasics

/// A signer that puts all parameters of an authorization response into one JWT.
///
/// - SeeAlso: JARM, section 2.1
struct ResponseSigner: Redacted {
  /// The client that gets the response.
  let client: SandboxClient

  /// The lifetime of a response in seconds: ten minutes, the maximum that JARM recommends.
  private static let lifetime = 600

  /// Returns the single parameter `response`, unless a test has planned a misbehaviour.
  func sign(
    _ parameters: [SandboxParameter], _ sandbox: inout SandboxState
  ) -> [SandboxParameter] {
    let jwt = jwt(parameters, &sandbox)
    func response(_ text: String) -> SandboxParameter {
      SandboxParameter(name: "response", value: text)
    }
    let due = sandbox.plan.take(.authorization, at: .signedResponse, .jwt)
    switch due {
    case .signedResponse(.plain): return parameters
    case .signedResponse(.plainToo): return parameters + [response(jwt.signed)]
    case .signedResponse(.doubled): return [response(jwt.signed), response(jwt.signed)]
    case .signedResponse(.missing): return []
    case .signedResponse(let fault): return [response(fault.text(jwt))]
    default: return [response(jwt.signed(spoiledBy: due, &sandbox))]
    }
  }

  private func jwt(
    _ parameters: [SandboxParameter], _ sandbox: inout SandboxState
  ) -> SandboxJWT {
    let claims = [
      SandboxJSON.Member("aud", .string(client.id)),
      .init("exp", .integer(sandbox.seconds + Self.lifetime)),
    ]
    return SandboxJWT(
      .object(claims + parameters.map { .init($0.name, .string($0.value)) }),
      key: sandbox.responseKey(for: client), namesKey: sandbox.options.openID.namesKeys)
  }
}

extension SandboxState {
  /// Returns the algorithm of a client's authorization responses, or `nil` if the sandbox signs
  /// none.
  func responseAlgorithm(for client: SandboxClient) -> SandboxSigningAlgorithm? {
    options.authorizationResponseAlgorithms.first.map {
      client.authorizationResponseAlgorithm ?? $0
    }
  }

  /// Returns the key that signs a client's authorization responses.
  ///
  /// If the algorithm is an HMAC and the client has no secret, it is the sandbox's key for RS256.
  fileprivate mutating func responseKey(for client: SandboxClient) -> SigningKey {
    let algorithm = responseAlgorithm(for: client) ?? .rs256
    return signingKey(algorithm, for: client) ?? keys.key(for: .rs256)
  }
}
