import SQFoundation

extension RequestAuthorization {
  /// Runs a call with these fields and the observer's fields, and reports the call to the observer.
  ///
  /// The event of the call's end has no HTTP status. `code` returns a failed call's error code.
  package func observing<Value, Failure>(
    code: (Failure) -> SQOAuthError.Code, _ call: (HeaderFields) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let environment = environment
    guard let observer = environment.observer else { return try await call(fields) }
    let subject = ClientEvent.Subject.request(
      ClientEvent.Request(method, url, observed, at: environment.clock.now))
    return try await Optional(observer).observing(
      subject, accountID: observed.accountID, code: code, result: { _ in nil }
    ) { () throws(Failure) in
      try await call(observer.adding(to: fields, observer.event(subject, .begin, of: .current)))
    }
  }
}
