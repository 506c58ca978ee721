/// Calls `ask` every 10 ms until it returns a value, or throws if it returns none within the limit.
package func eventually<Value>(
  _ what: String = "the awaited event", within limit: Duration = .seconds(45),
  isolation: isolated (any Actor)? = #isolation,
  _ ask: () async throws -> Value?
) async throws -> Value {
  let deadline = ContinuousClock.now + limit
  while true {
    // The time is checked first, so that `ask` is called once more even after a long pause.
    let isLast = ContinuousClock.now >= deadline
    if let answer = try await ask() { return answer }
    guard !isLast else { throw NeverHappened(what: what, limit: limit) }
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// Waits until a condition holds, or throws if it does not within the time limit.
package func eventually(
  _ what: String = "the awaited event", within limit: Duration = .seconds(45),
  isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let _: Bool = try await eventually(what, within: limit) { try await condition() ? true : nil }
}

/// The error if an awaited event did not happen.
package struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  let limit: Duration
  package var description: String { "\(what): not within \(limit)" }
}
