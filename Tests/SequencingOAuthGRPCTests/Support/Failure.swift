import SequencingOAuthGRPC
import Testing

/// Runs what must fail with an ``RPCError`` and returns the error for further checks.
@discardableResult
func failure<Value>(
  _ status: RPCStatus? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Value
) async -> RPCError? {
  do {
    _ = try await body()
    Issue.record("it succeeded", sourceLocation: sourceLocation)
    return nil
  } catch let error as RPCError {
    if let status { #expect(error.status == status, "\(error)", sourceLocation: sourceLocation) }
    return error
  } catch {
    Issue.record("not an RPCError: \(error)", sourceLocation: sourceLocation)
    return nil
  }
}

/// The same for work that does not wait.
@discardableResult
func failure<Value>(
  _ status: RPCStatus? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  of body: () throws -> Value
) -> RPCError? {
  let error = #expect(throws: RPCError.self, sourceLocation: sourceLocation) { _ = try body() }
  if let status, let error {
    #expect(error.status == status, "\(error)", sourceLocation: sourceLocation)
  }
  return error
}
