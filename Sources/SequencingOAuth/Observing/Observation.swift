import SQBasics
import SQFoundation

/// The operation during which something happens.
///
/// A task and the tasks that it starts share it, so that the events of a request name the sign-in
/// or the refresh that needs the request.
struct Observation: Sendable {
  @TaskLocal static var current: Observation?

  let operation: UInt64
  let parent: UInt64?
  let accountID: String?
}

extension ClientObserver? {
  /// Runs work, and tells the observer when it begins and ends.
  ///
  /// `result` returns the subject of the end event, with the details that are known by then.
  func observing<Value>(
    _ subject: ClientEvent.Subject, accountID: String? = nil,
    result: (Result<Value, SQOAuthError>) -> ClientEvent.Subject? = { _ in nil },
    _ work: () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await observing(
      subject, accountID: accountID, code: { (error: SQOAuthError) in error.code }, result: result,
      work)
  }

  /// Runs work that throws errors of another type; `code` returns the code of an error.
  func observing<Value, Failure>(
    _ subject: ClientEvent.Subject, accountID: String? = nil,
    code: (Failure) -> SQOAuthError.Code,
    result: (Result<Value, Failure>) -> ClientEvent.Subject?,
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    guard let self else { return try await work() }
    let scope = self.begin(within: .current, accountID: accountID)
    self.tell(self.event(subject, .begin, of: scope))
    let start = ContinuousClock.now
    let outcome = await Observation.$current.withValue(scope) { await Result.of(work) }
    let end = ClientEvent.Phase.end(
      after: ContinuousClock.now - start, error: outcome.error.map(code))
    self.tell(self.event(result(outcome) ?? subject, end, of: scope))
    return try outcome.get()
  }
}

extension ClientEnvironment {
  /// Tells the observer of something that takes no time.
  func tell(
    _ subject: @autoclosure () -> ClientEvent.Subject, accountID: String? = nil,
    in scope: Observation? = Observation.current
  ) {
    guard let observer else { return }
    observer.tell(observer.event(subject(), of: scope, accountID: accountID))
  }

  /// Runs work, and tells the observer when it begins and ends.
  package func observing<Value>(
    _ subject: ClientEvent.Subject, accountID: String? = nil,
    _ work: () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await observer.observing(subject, accountID: accountID, work)
  }
}
