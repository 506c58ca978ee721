import LoopbackHTTP

/// The requests that have come, and the tests that wait for more.
final class RequestLog: Sendable {
  private struct Waiter: Sendable {
    let endpoint: SandboxEndpoint
    let count: Int
    let continuation: CheckedContinuation<[SandboxRequest], any Error>
  }

  private struct State {
    var requests: [SandboxRequest] = []
    var waiters: [Int: Waiter] = [:]
    /// How many requests to each endpoint wait for their answer, now and at most.
    var inFlight: [SandboxEndpoint: Int] = [:]
    var maximumInFlight: [SandboxEndpoint: Int] = [:]
    var nextID = 0

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

  /// The answer to a request is ready, or its client has left.
  func end(_ request: SandboxRequest) {
    guard let endpoint = request.endpoint else { return }
    state.withLock { $0.inFlight[endpoint, default: 0] -= 1 }
  }

  /// Notes a request; ``end(_:)`` is called once for each.
  func begin(_ request: SandboxRequest) {
    let served = state.withLock { state in
      state.requests.append(request)
      if let endpoint = request.endpoint {
        state.inFlight[endpoint, default: 0] += 1
        state.maximumInFlight[endpoint] = max(
          state.maximumInFlight[endpoint] ?? 0, state.inFlight[endpoint] ?? 0)
      }
      guard let endpoint = request.endpoint, !state.waiters.isEmpty else {
        return [(Waiter, [SandboxRequest])]()
      }
      let found = state.requests(to: endpoint)
      let due = state.waiters.filter { $1.endpoint == endpoint && $1.count <= found.count }
      for id in due.keys { state.waiters[id] = nil }
      return due.values.map { ($0, found) }
    }
    for (waiter, requests) in served { waiter.continuation.resume(returning: requests) }
  }

  /// Waits until so many requests have come to an endpoint, those before the call included.
  func wait(for count: Int, to endpoint: SandboxEndpoint) async throws -> [SandboxRequest] {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let found: [SandboxRequest]? = state.withLock { state in
          let found = state.requests(to: endpoint)
          guard found.count < count, !Task.isCancelled else { return found }
          state.waiters[id] = Waiter(
            endpoint: endpoint, count: count, continuation: continuation)
          return nil
        }
        guard let found else { return }
        if found.count < count {
          continuation.resume(throwing: CancellationError())
        } else {
          continuation.resume(returning: found)
        }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }
}
