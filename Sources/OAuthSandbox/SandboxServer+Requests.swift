extension SandboxServer {
  /// The requests so far, at most the newest 10,000, in order of arrival.
  ///
  /// A request is added before its answer is sent. A request with another server's name in `Host`
  /// is rejected and not added. ``forgetRequests()`` removes them all.
  public var requests: [SandboxRequest] { core.log.requests }

  /// Returns the requests among ``requests`` to one endpoint, in order of arrival.
  public func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
    core.log.requests(to: endpoint)
  }

  /// Waits until an endpoint has received at least `count` requests, including those before this
  /// call, but not those before ``forgetRequests()``.
  ///
  /// Returns the requests to the endpoint, as ``requests(to:)`` does.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func requests(
    to endpoint: SandboxEndpoint, atLeast count: Int
  ) async throws -> [SandboxRequest] {
    try await core.log.wait(for: count, to: endpoint)
  }

  /// Returns the maximum number of requests that an endpoint handled at the same time.
  ///
  /// A request counts from its arrival until its answer is ready. So two requests never count at
  /// the same time if the client sends the second after the answer to the first.
  public func maximumRequestsInFlight(at endpoint: SandboxEndpoint) -> Int {
    core.log.maximumInFlight(at: endpoint)
  }

  /// Returns the Bearer tokens that an endpoint received, with the number of requests for each.
  public func bearerTokens(at endpoint: SandboxEndpoint) -> [String: Int] {
    let tokens = requests(to: endpoint).compactMap(\.bearerToken)
    return Dictionary(tokens.map { ($0, 1) }, uniquingKeysWith: +)
  }

  /// Removes all requests so far, and resets ``maximumRequestsInFlight(at:)``.
  public func forgetRequests() {
    core.log.clear()
  }
}
