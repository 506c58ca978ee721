/// What a relay does to one request, and how far it has counted.
///
/// A request is what a client sends after it got an answer, or at first. The relay does not know what
/// it means, so the messages of a login count too.
struct RelayFault {
  /// How many requests have come.
  private(set) var requests = 0
  /// The number of the request that meets the fault; `nil` if none does.
  private var number: Int?
  private var kind = TCPRelay.Fault.requestIsLost

  mutating func expect(_ kind: TCPRelay.Fault, atRequest more: Int) {
    (self.kind, number) = (kind, requests + more)
  }

  /// Whether the fault is still to come.
  var isExpected: Bool { number != nil }

  /// Counts a request; returns the fault that it meets.
  mutating func next() -> TCPRelay.Fault? {
    requests += 1
    guard requests == number else { return nil }
    number = nil
    return kind
  }
}
