/// Asks again and again until there is an answer, and throws when there is none within the limit.
package func eventually<Value>(
  _ what: String = "the awaited event", within limit: Duration = .seconds(30),
  isolation: isolated (any Actor)? = #isolation,
  _ ask: () async throws -> Value?
) async throws -> Value {
  let deadline = ContinuousClock.now + limit
  while true {
    // Looked at before it asks, so that after a long pause it asks once more.
    let isLast = ContinuousClock.now >= deadline
    if let answer = try await ask() { return answer }
    guard !isLast else { throw NeverHappened(what: what, limit: limit) }
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// Waits until a condition holds, and throws when it does not within the limit.
package func eventually(
  _ what: String = "the awaited event", within limit: Duration = .seconds(30),
  isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let _: Bool = try await eventually(what, within: limit) { try await condition() ? true : nil }
}

/// What a test waited for did not come.
package struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  let limit: Duration
  package var description: String { "\(what): not within \(limit)" }
}
