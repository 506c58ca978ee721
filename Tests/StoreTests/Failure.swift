import SequencingOAuth
import Testing

/// The typed error that a body throws, which must have a code where one is given.
@discardableResult
func failure(
  _ code: SQOAuthError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> some Any
) async -> SQOAuthError? {
  let error = await #expect(throws: SQOAuthError.self, sourceLocation: sourceLocation) {
    _ = try await body()
  }
  if let code { #expect(error?.code == code, sourceLocation: sourceLocation) }
  return error
}

/// The same without waiting.
@discardableResult
func failure(
  _ code: SQOAuthError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> some Any
) -> SQOAuthError? {
  let error = #expect(throws: SQOAuthError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  if let code { #expect(error?.code == code, sourceLocation: sourceLocation) }
  return error
}
