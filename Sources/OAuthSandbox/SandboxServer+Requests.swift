extension SandboxServer {
  /// Every request so far, in the order in which they came.
  ///
  /// A request is here before it is answered, whatever the answer.
  public var requests: [SandboxRequest] { core.log.requests }

  /// The requests so far to one endpoint.
  public func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
    core.log.requests(to: endpoint)
  }

  /// Waits until an endpoint has had so many requests, those before the call included.
  ///
  /// Returns all of them; throws when the task is cancelled.
  public func requests(
    to endpoint: SandboxEndpoint, atLeast count: Int
  ) async throws -> [SandboxRequest] {
    try await core.log.wait(for: count, to: endpoint)
  }

  /// The most requests to an endpoint that waited for their answers at one time.
  ///
  /// A request counts from its arrival until its answer is ready, so requests that a client sends one
  /// after the other never count together.
  public func maximumRequestsInFlight(at endpoint: SandboxEndpoint) -> Int {
    core.log.maximumInFlight(at: endpoint)
  }

  /// The Bearer tokens that came to an endpoint, and how often each did.
  public func bearerTokens(at endpoint: SandboxEndpoint) -> [String: Int] {
    let tokens = requests(to: endpoint).compactMap(\.bearerToken)
    return Dictionary(tokens.map { ($0, 1) }, uniquingKeysWith: +)
  }

  /// Forgets the requests so far, and what was counted of them.
  public func forgetRequests() {
    core.log.clear()
  }
}
