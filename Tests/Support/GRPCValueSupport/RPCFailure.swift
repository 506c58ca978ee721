package import SequencingOAuthGRPC
import TestSupport
package import Testing

/// Runs a body that must fail with an ``RPCCallError``, and returns the error for further checks.
@discardableResult
package func rpcFailure<Value>(
  _ status: RPCStatus? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Value
) async -> RPCCallError? {
  let error = await failure(as: RPCCallError.self, sourceLocation: sourceLocation, of: body)
  if let status, let error {
    #expect(error.status == status, "\(error)", sourceLocation: sourceLocation)
  }
  return error
}

/// Runs a body without `async` that must fail with an ``RPCCallError``, and returns the error.
@discardableResult
package func rpcFailure<Value>(
  _ status: RPCStatus? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  of body: () throws -> Value
) -> RPCCallError? {
  let error = #expect(throws: RPCCallError.self, sourceLocation: sourceLocation) { _ = try body() }
  if let status, let error {
    #expect(error.status == status, "\(error)", sourceLocation: sourceLocation)
  }
  return error
}
