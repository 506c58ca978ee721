/// Runs `body` and then `stop`, even if `body` fails.
package func stopping<Result: Sendable>(
  _ stop: () async -> Void, after body: () async throws -> Result
) async throws -> Result {
  do {
    let result = try await body()
    await stop()
    return result
  } catch {
    await stop()
    throw error
  }
}
