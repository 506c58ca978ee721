import SQBasics
import SQFoundation

// The reports of a session to the client's observer.
extension TokenSession {
  /// Runs a renewal, and reports it to the observer.
  func observing(
    _ renewal: Renewal, _ reason: ClientEvent.Refresh.Reason,
    _ run: () async -> Renewal.Outcome
  ) async -> Renewal.Outcome {
    guard let observer = context.environment.observer else { return await run() }
    let before = refreshes
    var details = ClientEvent.Refresh(reason: reason)
    let observed = Optional(observer)
    do throws(SQOAuthError) {
      return .success(
        try await observed.observing(
          .refresh(details), accountID: account.id,
          result: { outcome in
            details.callers = renewal.change.callers.count
            let hasToken = (try? outcome.get()) != nil
            let hasNarrowed = if case .success? = renewal.narrowed { true } else { false }
            details.result =
              refreshes > before || hasNarrowed
              ? .refreshed : hasToken ? .takenOver : ClientEvent.Refresh.Result.none
            return .refresh(details)
          }
        ) { () throws(SQOAuthError) -> SQToken? in
          let token = try await run().get()
          if case .failure(let error)? = renewal.narrowed { throw error }
          return token
        })
    } catch {
      // The error of a narrowed token is only for the caller that asked for that token.
      if case .failure? = renewal.narrowed { return .success(nil) }
      return .failure(error)
    }
  }

  /// Reports how long the session waits before it sends the next request for a token.
  func tellBackOff(after error: SQOAuthError) {
    let now = now
    guard let pause = decide({ $0.pause(at: now) }) else { return }
    context.environment.tell(.backOff(pause, after: error.code), accountID: account.id)
  }
}

extension SessionState.Need {
  /// The reason that an event gives for a renewal, by the need of the caller that started it.
  var reason: ClientEvent.Refresh.Reason {
    switch self {
    case .valid: .caller
    case .replacing: .refusal
    case .new: .app
    case .kept: .keeper
    case .due: .timer
    case .narrowed: .narrowing
    }
  }
}

extension ClientEvent.Subject {
  /// Creates the subject of a session's event; `nil` if the end of an operation reports the event.
  init?(_ event: SessionEvent) {
    switch event {
    case .takenOver: self = .takenOver
    case .replaced: self = .replaced
    case .endsSoon(let date): self = .endsSoon(date)
    case .ended(let end): self = .ended(ClientEvent.End(end))
    case .refreshed, .refreshFailed, .idTokenIgnored: return nil
    }
  }
}

extension ClientEvent.End {
  fileprivate init(_ end: SessionEnd) {
    self =
      switch end {
      case .signedOut: .signedOut
      case .revoked: .revoked
      case .loggedOut: .loggedOut
      case .refused: .refused
      }
  }
}
