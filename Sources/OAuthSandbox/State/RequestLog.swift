import SQBasics

/// The newest requests, and the tests that wait for more.
///
/// A sandbox may run for days, so the log has limits. It counts the requests that it no longer keeps.
final class RequestLog: Sendable {
  /// The maximum number of requests to keep; when there are more, the oldest tenth is removed.
  static let mostRequests = 10_000
  /// The maximum number of bytes in all kept bodies; when there are more, the oldest bodies are
  /// removed.
  static let mostBodyBytes = 64 << 20

  private struct Waiter: Sendable {
    let endpoint: SandboxEndpoint
    let count: Int
    let arrival: OneShot<[SandboxRequest]>
  }

  private struct State {
    private(set) var requests: [SandboxRequest] = []
    /// The number of requests to each endpoint since the log was cleared.
    private(set) var counts: [SandboxEndpoint: Int] = [:]
    /// The number of bytes in the bodies of ``requests``.
    private var bodyBytes = 0
    /// The number of requests at the start of ``requests`` whose bodies were removed.
    private var emptied = 0
    var waiters: [Waiter] = []
    /// The number of requests to each endpoint that have no answer yet.
    var inFlight: [SandboxEndpoint: Int] = [:]
    var maximumInFlight: [SandboxEndpoint: Int] = [:]

    func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
      requests.filter { $0.endpoint == endpoint }
    }

    mutating func add(_ request: SandboxRequest) {
      requests.append(request)
      bodyBytes += request.body.count
      if let endpoint = request.endpoint { counts[endpoint, default: 0] += 1 }
      if requests.count > mostRequests { removeOldest(mostRequests / 10) }
      while bodyBytes > mostBodyBytes {
        bodyBytes -= requests[emptied].body.count
        requests[emptied] = requests[emptied].withoutContent
        emptied += 1
      }
    }

    private mutating func removeOldest(_ count: Int) {
      bodyBytes -= requests.prefix(count).reduce(0) { $0 + $1.body.count }
      requests.removeFirst(count)
      emptied = max(0, emptied - count)
    }

    mutating func clear() {
      (requests, counts, bodyBytes, emptied) = ([], [:], 0, 0)
      maximumInFlight = inFlight
    }
  }

  private let state = Locked(State())

  var requests: [SandboxRequest] { state.withLock { $0.requests } }

  func requests(to endpoint: SandboxEndpoint) -> [SandboxRequest] {
    state.withLock { $0.requests(to: endpoint) }
  }

  func clear() {
    state.withLock { $0.clear() }
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
      state.add(request)
      guard let endpoint = request.endpoint else { return ([], []) }
      state.inFlight[endpoint, default: 0] += 1
      state.maximumInFlight[endpoint] = max(
        state.maximumInFlight[endpoint] ?? 0, state.inFlight[endpoint] ?? 0)
      let count = state.counts[endpoint] ?? 0
      let due = state.waiters.filter { $0.endpoint == endpoint && $0.count <= count }
      return (due, due.isEmpty ? [] : state.requests(to: endpoint))
    }
    for waiter in due { waiter.arrival.resolve(found) }
  }

  /// Waits until an endpoint has received at least `count` requests, including those before this
  /// call.
  func wait(for count: Int, to endpoint: SandboxEndpoint) async throws -> [SandboxRequest] {
    let arrival = OneShot<[SandboxRequest]>()
    let found = state.withLock { state -> [SandboxRequest]? in
      if state.counts[endpoint] ?? 0 >= count { return state.requests(to: endpoint) }
      state.waiters.append(Waiter(endpoint: endpoint, count: count, arrival: arrival))
      return nil
    }
    if let found { return found }
    defer { state.withLock { $0.waiters.removeAll { $0.arrival === arrival } } }
    guard let requests = await arrival.value() else { throw CancellationError() }
    return requests
  }
}
