import SQBasics

/// A call of the app's code with a time limit, so that it cannot keep a request waiting.
enum LimitedCall {
  /// Returns the result of the app's code; `nil` at the time limit, or if the caller is cancelled.
  ///
  /// In both cases this cancels the task of the app's code, without waiting for that code to end.
  static func result<Value: Sendable>(
    limit: Duration, of code: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error>? {
    let answer = OneShot<Result<Value, any Error>>()
    let work = Task { answer.resolve(await .of(code)) }
    let result = await answer.wait(until: .now + limit)
    work.cancel()
    return result
  }
}
