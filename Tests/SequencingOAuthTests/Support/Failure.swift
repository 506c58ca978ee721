import SequencingOAuth
import Testing

/// Runs what must fail with an error of the SDK and returns the error for further checks.
@discardableResult
func failure<Value>(
  _ code: SQOAuthError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  of body: () throws -> Value
) -> SQOAuthError? {
  let error = #expect(throws: SQOAuthError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  if let code, let error {
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
  }
  return error
}

/// The same for asynchronous work.
@discardableResult
func failure<Value>(
  _ code: SQOAuthError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Value
) async -> SQOAuthError? {
  do {
    _ = try await body()
    Issue.record("it succeeded", sourceLocation: sourceLocation)
    return nil
  } catch let error as SQOAuthError {
    if let code { #expect(error.code == code, "\(error)", sourceLocation: sourceLocation) }
    return error
  } catch {
    Issue.record("not an SQOAuthError: \(error)", sourceLocation: sourceLocation)
    return nil
  }
}
