import SQBasics

// The calls that ask for a token, and their waits for a renewal.
extension TokenSession {
  /// Returns the token that a caller needs; the first caller that needs a renewal starts it.
  ///
  /// A caller stops waiting if it is cancelled or reaches the client's time limit; the renewal
  /// continues for the others.
  package func token(_ need: SessionState.Need) async throws(SQOAuthError) -> SQToken {
    let end = need.isOwn ? nil : endOfWait
    var hasLooked = false
    while true {
      let now = now
      switch decide({ $0.step(need, at: now) }) {
      case .use(let token):
        return token
      case .fail(let error):
        throw error
      case .absent:
        if try await restore(until: end) { continue }
        // The SDK itself only keeps a token: if the app has signed out in the meantime, it must not
        // get another one.
        guard !need.isOwn, try context.actsInOwnName() else { throw .notSignedIn }
        try await obtain(until: end)
      case .lapsed(let error):
        try await lookOnce(&hasLooked, until: end, or: error)
      case .join(let change):
        if !need.isOwn { change.callers.add() }
        if let token = try await result(of: change, need, until: end) { return token }
      case .start(let change, let record):
        if !need.isOwn { change.callers.add() }
        start(Renewal(self, change, isUse: !need.isKeeping), of: record, because: need.reason)
        if let token = try await result(of: change, need, until: end) { return token }
      }
    }
  }

  /// Looks for a newer record in the store; throws `error` the second time, because there is none.
  ///
  /// Another process may have signed the user in again.
  ///
  /// - Throws: The store's error if it cannot be read: a user should not sign in again if the store
  ///   may have a newer sign-in.
  func lookOnce(
    _ hasLooked: inout Bool, until end: ContinuousClock.Instant?, or error: SQOAuthError
  ) async throws(SQOAuthError) {
    guard !hasLooked else { throw error }
    hasLooked = true
    if let error = await lookAtStore(until: end) { throw error }
  }

  func start(
    _ renewal: Renewal, of record: AccountRecord, because reason: ClientEvent.Refresh.Reason
  ) {
    renewal.change.run {
      let outcome = await self.observing(renewal, reason) { await renewal.run(record) }
      self.changed()
      return outcome
    }
  }

  /// The time at which a caller stops waiting if it starts now.
  ///
  /// It is a little later than the time limit of a request, because the request's error is more
  /// informative.
  var endOfWait: ContinuousClock.Instant {
    let limit = (try? context.configuration.get().timeout) ?? .zero
    return .now + limit + TokenChange.usualTime
  }

  /// Waits for a change's outcome; throws if the caller is cancelled or reaches its time limit.
  func outcome(
    of change: TokenChange, until end: ContinuousClock.Instant?
  ) async throws(SQOAuthError) -> Renewal.Outcome {
    if let outcome = await change.outcome(until: end) { return outcome }
    throw Task.isCancelled ? .waitCancelled : .stillUnderWay
  }

  /// Waits for a change and returns its token; `nil` if the caller must ask for a token again.
  private func result(
    of change: TokenChange, _ need: SessionState.Need, until end: ContinuousClock.Instant?
  ) async throws(SQOAuthError) -> SQToken? {
    do throws(SQOAuthError) {
      let token = try await outcome(of: change, until: end).get()
      // The app may have registered another client, or another token may have replaced this one.
      return token.flatMap { need.isOwn || isOfClient($0) ? $0 : nil }
    } catch {
      // If an early renewal fails, the old token is still valid for some time, so the caller gets
      // it.
      let now = now
      if case .valid = need, let token = decide({ $0.unexpiredToken(at: now) }) { return token }
      throw error
    }
  }

  /// Returns whether a token is the current one, and of the registered client.
  private func isOfClient(_ token: SQToken) -> Bool {
    decide { !$0.isForeign && $0.token?.isSame(as: token) == true }
  }

  /// Waits until no change of the token is running.
  func waitForChange() async throws(SQOAuthError) {
    while let change = decide(\.changeUnderWay) {
      guard await change.work.outcome.value() != nil else { throw .waitCancelled }
    }
  }
}
