extension SandboxServer {
  /// All requests so far, in the order of their arrival.
  ///
  /// A request is in this list before its answer is sent, whatever the answer is.
  public var requests: [SandboxRequest] { core.log.requests }

  /// All requests so far to one endpoint, in the order of their arrival.
  public func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
    core.log.requests(to: endpoint)
  }

  /// Waits until an endpoint has received `count` requests, including those before this call.
  ///
  /// Returns all of them; throws if the task is cancelled.
  public func requests(
    to endpoint: SandboxEndpoint, atLeast count: Int
  ) async throws -> [SandboxRequest] {
    try await core.log.wait(for: count, to: endpoint)
  }

  /// The most requests to an endpoint that waited for their answers at the same time.
  ///
  /// A request counts from its arrival until its answer is ready, so requests that a client sends
  /// one after the other never count together.
  public func maximumRequestsInFlight(at endpoint: SandboxEndpoint) -> Int {
    core.log.maximumInFlight(at: endpoint)
  }

  /// The Bearer tokens that an endpoint received, with the number of requests for each.
  public func bearerTokens(at endpoint: SandboxEndpoint) -> [String: Int] {
    let tokens = requests(to: endpoint).compactMap(\.bearerToken)
    return Dictionary(tokens.map { ($0, 1) }, uniquingKeysWith: +)
  }

  /// Forgets all requests so far, and the counts of them.
  public func forgetRequests() {
    core.log.clear()
  }
}
