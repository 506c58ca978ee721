package import SequencingOAuth
package import Testing

/// Runs a body that must fail with an error of the SDK, and returns the error for further checks.
@discardableResult
package func failure<Value>(
  _ code: SQOAuthError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Value
) async -> SQOAuthError? {
  let error = await failure(as: SQOAuthError.self, sourceLocation: sourceLocation, of: body)
  if let code, let error {
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
  }
  return error
}

/// Runs a body without `async` that must fail with an error of the SDK, and returns the error.
@discardableResult
package func failure<Value>(
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

/// Runs a body that must fail with an error of a type, and returns the error for further checks.
///
/// Unlike `#expect(throws:)`, it runs the body on the caller's actor.
package func failure<Failure: Error, Value>(
  as type: Failure.Type, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Value
) async -> Failure? {
  do {
    _ = try await body()
    Issue.record("no \(type) was thrown", sourceLocation: sourceLocation)
  } catch let error as Failure {
    return error
  } catch {
    Issue.record("not an error of \(type): \(error)", sourceLocation: sourceLocation)
  }
  return nil
}
