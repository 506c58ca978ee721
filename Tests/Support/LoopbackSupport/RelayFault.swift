/// The fault that a relay causes for one request, and the count of requests.
///
/// A request is what a client sends at first or after an answer. The relay does not understand its
/// content, so the messages of a login count too.
struct RelayFault {
  /// The number of requests that have come.
  private(set) var requests = 0
  /// The number of the request that meets the fault, or `nil`.
  private var number: Int?
  private var kind = TCPRelay.Fault.requestIsLost

  mutating func expect(_ kind: TCPRelay.Fault, atRequest more: Int) {
    (self.kind, number) = (kind, requests + more)
  }

  /// Whether the fault is still to come.
  var isExpected: Bool { number != nil }

  /// Counts a request, and returns the fault that it meets.
  mutating func next() -> TCPRelay.Fault? {
    requests += 1
    guard requests == number else { return nil }
    number = nil
    return kind
  }
}
