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

  /// Forgets the requests so far.
  public func forgetRequests() {
    core.log.clear()
  }
}
