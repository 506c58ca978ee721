import SQBasics

/// What happened in one schedule, and what of it went against the rules.
final class Report: Sendable {
  private struct State {
    var faults: [String] = []
    var trace: [String] = []
    var names: [String: String] = [:]
  }

  private let state = Locked(State())

  var faults: [String] { state.withLock(\.faults) }

  /// Everything in its order, one thing a line.
  var trace: String { state.withLock { $0.trace.joined(separator: "\n") } }

  func add(_ fault: String) {
    state.withLock { state in
      state.faults.append(fault)
      state.trace.append("! \(fault)")
    }
  }

  func note(_ text: String) { state.withLock { $0.trace.append(text) } }

  /// A short name for a refresh token, the same each time: `r3`.
  func name(_ token: String?) -> String {
    guard let token else { return "none" }
    return state.withLock { state in
      let name = state.names[token] ?? "r\(state.names.count + 1)"
      state.names[token] = name
      return name
    }
  }
}
