/// The endpoint of the public signing keys, `/jwks`, as a JWK set (RFC 7517, section 5).
enum KeySetEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    // Create the keys now, because a client may fetch them before the first token is signed.
    for algorithm in algorithms(sandbox) where !algorithm.usesSecret {
      _ = sandbox.keys.key(for: algorithm)
    }
    let options = sandbox.options.openID
    let keys = sandbox.keys.published.map { $0.json(namesKey: options.namesKeys) }
    let decoys: [SandboxJSON] =
      switch options.decoyKeys {
      case .none: []
      case .ownIDs: DecoyKeys.all(ids: [])
      case .repeatedIDs: DecoyKeys.all(ids: sandbox.keys.published.map(\.id))
      }
    var answer = Answer(
      status: 200, headers: [("Content-Type", "application/jwk-set+json")],
      content: .json(keySet(keys, decoys, &sandbox)))
    if let cacheControl = options.keySetCacheControl {
      answer.headers.append(("Cache-Control", cacheControl))
    }
    return answer
  }

  /// Returns the algorithms of everything that the sandbox may sign.
  private static func algorithms(_ sandbox: SandboxState) -> [SandboxSigningAlgorithm] {
    let clients = sandbox.options.clients + sandbox.documents.clients
    var algorithms: [SandboxSigningAlgorithm] = []
    let exchange = TokenExchangeGrant.type
    if TokenEndpoint.supportedGrantTypes(sandbox).contains(exchange),
      clients.contains(where: { $0.isConfidential && $0.accepts(grantType: exchange) })
    {
      // A token exchange can issue ID-JAGs and other JWTs, which are signed with RS256.
      algorithms.append(.rs256)
    }
    if case .jwt(let algorithm) = sandbox.options.accessTokenFormat { algorithms.append(algorithm) }
    for client in clients {
      let own = [
        client.idTokenAlgorithm, client.userInfoAlgorithm, sandbox.responseAlgorithm(for: client),
      ]
      // If a client's algorithm is an HMAC, RS256 still signs its introspection responses and, if
      // it has no secret, its authorization responses.
      algorithms += own.compactMap(\.self).map { $0.usesSecret ? .rs256 : $0 }
    }
    return algorithms
  }

  /// Returns the key set with the decoys first, altered if a misbehaviour is due.
  private static func keySet(
    _ keys: [SandboxJSON], _ decoys: [SandboxJSON], _ sandbox: inout SandboxState
  ) -> SandboxJSON {
    if case .keySet(let fault) = sandbox.plan.take(.keys, at: .keySet) {
      return fault.keySet(keys, decoys)
    }
    return ["keys": .array(decoys + keys)]
  }
}
