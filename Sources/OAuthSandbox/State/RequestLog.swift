import SQBasics

/// The requests so far, and the tests that wait for more.
final class RequestLog: Sendable {
  private struct Waiter: Sendable {
    let endpoint: SandboxEndpoint
    let count: Int
    let arrival: OneShot<[SandboxRequest]>
  }

  private struct State {
    var requests: [SandboxRequest] = []
    var waiters: [Waiter] = []
    /// The number of requests to each endpoint that have no answer yet.
    var inFlight: [SandboxEndpoint: Int] = [:]
    var maximumInFlight: [SandboxEndpoint: Int] = [:]

    func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
      requests.filter { $0.endpoint == endpoint }
    }
  }

  private let state = Locked(State())

  var requests: [SandboxRequest] { state.withLock { $0.requests } }

  func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
    state.withLock { $0.requests(to: endpoint) }
  }

  func clear() {
    state.withLock {
      $0.requests = []
      $0.maximumInFlight = $0.inFlight
    }
  }

  func maximumInFlight(at endpoint: SandboxEndpoint) -> Int {
    state.withLock { $0.maximumInFlight[endpoint] ?? 0 }
  }

  /// Records that the answer to a request is ready, or that its client has disconnected.
  func end(_ request: SandboxRequest) {
    guard let endpoint = request.endpoint else { return }
    state.withLock { $0.inFlight[endpoint, default: 0] -= 1 }
  }

  /// Records a request, and wakes the tests that wait for it.
  ///
  /// For each call, ``end(_:)`` must be called once.
  func begin(_ request: SandboxRequest) {
    let (due, found) = state.withLock { state -> ([Waiter], [SandboxRequest]) in
      state.requests.append(request)
      guard let endpoint = request.endpoint else { return ([], []) }
      state.inFlight[endpoint, default: 0] += 1
      state.maximumInFlight[endpoint] = max(
        state.maximumInFlight[endpoint] ?? 0, state.inFlight[endpoint] ?? 0)
      let waiters = state.waiters.filter { $0.endpoint == endpoint }
      guard !waiters.isEmpty else { return ([], []) }
      let found = state.requests(to: endpoint)
      return (waiters.filter { $0.count <= found.count }, found)
    }
    for waiter in due { waiter.arrival.resolve(found) }
  }

  /// Waits until an endpoint has received at least `count` requests, including those before this
  /// call.
  func wait(for count: Int, to endpoint: SandboxEndpoint) async throws -> [SandboxRequest] {
    let arrival = OneShot<[SandboxRequest]>()
    let found = state.withLock { state -> [SandboxRequest]? in
      let found = state.requests(to: endpoint)
      if found.count >= count { return found }
      state.waiters.append(Waiter(endpoint: endpoint, count: count, arrival: arrival))
      return nil
    }
    if let found { return found }
    defer { state.withLock { $0.waiters.removeAll { $0.arrival === arrival } } }
    guard let requests = await arrival.value() else { throw CancellationError() }
    return requests
  }
}
