import SQBasics

/// The purpose of a renewal that gets a token for only a part of the account's rights.
struct Narrowing: Sendable {
  let access: NarrowedAccess
  /// The token or the error, for the caller that started the renewal.
  let outcome = OneShot<Result<SQToken, SQOAuthError>>()
}

// Tokens with fewer rights than the account's token.
extension TokenSession {
  /// Returns a token for a part of the account's rights: one in memory, or one from the server.
  ///
  /// The request may replace the refresh token, so it counts as a change of the session's token.
  /// Callers wait for a running change, and then ask for a token again.
  func token(for access: NarrowedAccess) async throws(SQOAuthError) -> SQToken {
    let end = endOfWait
    var hasLooked = false
    while true {
      let now = now
      switch decide({ $0.step(.narrowed(access), at: now) }) {
      case .use(let token): return token
      case .fail(let error): throw error
      case .absent:
        if try await restore(until: end) { continue }
        guard try context.actsInOwnName() else { throw .notSignedIn }
        try await obtain(until: end)
      case .lapsed(let error): try await lookOnce(&hasLooked, until: end, or: error)
      case .join(let change):
        // The change's error is only for callers that need the account's own token.
        _ = try await outcome(of: change, until: end)
      case .start(let change, let record):
        change.callers.add()
        let narrowing = Narrowing(access: access)
        start(
          Renewal(self, change, isUse: true, narrowing: narrowing), of: record, because: .narrowing)
        _ = try await outcome(of: change, until: end).get()
        if let outcome = narrowing.outcome.current { return try outcome.get() }
      }
    }
  }

  /// Forgets a token for a part of the account's rights, because a server has refused it.
  func forgetNarrowed(_ token: SQToken) { decide { $0.narrowed.forget(token) } }
}

extension Renewal {
  /// Whether the refresh token is exchanged for the new token, which does not use it up.
  ///
  /// A refusal may be about the exchange only, so it does not end the session.
  var isExchange: Bool { narrowing?.access.exchange != nil }

  /// The token for a part of the account's rights, or the error of its request; `nil` before the
  /// request has ended, and for other renewals.
  var narrowed: Result<SQToken, SQOAuthError>? { narrowing?.outcome.current }

  /// Gives the caller a token for a part of the account's rights, and keeps it in memory.
  ///
  /// The session keeps its access token, and stores the refresh token of the response.
  func finish(
    _ narrowed: SQToken, for narrowing: Narrowing, storing record: AccountRecord?
  ) async -> SQToken? {
    // If the account has changed meanwhile, the caller asks for a token again.
    if let record, await !hold(record) { return nil }
    let now = session.now
    session.decide { state in
      guard state.isCurrent(change) else { return }
      if !isExchange { state.narrowed.keep(narrowed, for: narrowing.access, at: now) }
      state.end(change)
      narrowing.outcome.resolve(.success(narrowed))
    }
    return nil
  }

  /// Ends a failed request for a part of the account's rights; other waiting callers ask for a
  /// token again.
  ///
  /// The account's next refresh is delayed only if it would fail too: after an outage, or if the
  /// server asked the client to wait.
  func failed(_ error: SQOAuthError, for narrowing: Narrowing) -> Outcome {
    let now = session.now
    let pauses = session.decide { state in
      if error.isOutage || error.retryAfter != nil {
        return state.fail(change, error, at: now)
      }
      state.end(change)
      return false
    }
    if pauses { session.tellBackOff(after: error) }
    narrowing.outcome.resolve(.failure(error))
    return .success(nil)
  }
}
