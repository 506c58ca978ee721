/// The misbehaviours due at each endpoint, in the order in which they were added.
struct MisbehaviourPlan {
  private struct Entry {
    let kind: SandboxMisbehaviour.Kind
    /// The number of requests that the misbehaviour still applies to; `nil` for all requests until
    /// it is cleared.
    var times: Int?
  }

  private var entries: [SandboxEndpoint: [Entry]] = [:]

  mutating func add(_ kind: SandboxMisbehaviour.Kind, at endpoint: SandboxEndpoint, times: Int?) {
    guard times.map({ $0 > 0 }) ?? true else { return }
    entries[endpoint, default: []].append(Entry(kind: kind, times: times))
  }

  /// Adds a misbehaviour that comes before all others at an endpoint, once.
  mutating func addFirst(_ kind: SandboxMisbehaviour.Kind, at endpoint: SandboxEndpoint) {
    entries[endpoint, default: []].insert(Entry(kind: kind, times: 1), at: 0)
  }

  mutating func clear(_ endpoint: SandboxEndpoint?) {
    if let endpoint { entries[endpoint] = nil } else { entries = [:] }
  }

  /// Returns whether the next request to an endpoint is answered before its body is read.
  func leavesNextUnread(_ endpoint: SandboxEndpoint) -> Bool {
    if case .unread = entries[endpoint]?.first?.kind { return true }
    return false
  }

  /// Returns an endpoint's first misbehaviour at one of these places, and counts it down.
  mutating func take(
    _ endpoint: SandboxEndpoint, at places: SandboxMisbehaviour.Place...
  ) -> SandboxMisbehaviour.Kind? {
    guard let index = entries[endpoint]?.firstIndex(where: { places.contains($0.kind.place) }),
      let entry = entries[endpoint]?[index]
    else { return nil }
    if let times = entry.times {
      if times == 1 {
        entries[endpoint]?.remove(at: index)
      } else {
        entries[endpoint]?[index].times = times - 1
      }
    }
    return entry.kind
  }
}
