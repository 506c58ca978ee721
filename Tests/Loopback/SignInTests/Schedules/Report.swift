import SQBasics

/// A record of one schedule, and of the rules that it broke.
final class Report: Sendable {
  private struct State {
    var faults: [String] = []
    var trace: [String] = []
    var names: [String: String] = [:]
  }

  private let state = Locked(State())

  var faults: [String] { state.withLock(\.faults) }

  /// All events in order, one per line.
  var trace: String { state.withLock { $0.trace.joined(separator: "\n") } }

  func add(_ fault: String) {
    state.withLock { state in
      state.faults.append(fault)
      state.trace.append("! \(fault)")
    }
  }

  func note(_ text: String) { state.withLock { $0.trace.append(text) } }

  /// Returns a short, stable name for a refresh token, such as `r3`.
  func name(_ token: String?) -> String {
    guard let token else { return "none" }
    return state.withLock { state in
      let name = state.names[token] ?? "r\(state.names.count + 1)"
      state.names[token] = name
      return name
    }
  }
}
