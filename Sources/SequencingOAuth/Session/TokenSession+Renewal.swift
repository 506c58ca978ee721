import LoopbackHTTP

// One renewal, from the store to the store. It runs in a task of its own, which nobody who waits
// for it can cancel.
extension TokenSession {
  func start(_ renewal: SessionState.Renewal) {
    renewal.work.start {
      let outcome = await self.outcome(of: renewal)
      self.changed()
      renewal.work.outcome.resolve(outcome)
    }
  }

  private func outcome(
    of renewal: SessionState.Renewal
  ) async -> SharedWork<SQToken?>.Outcome {
    do throws(SQOAuthError) {
      return .success(try await renewed(renewal))
    } catch {
      guard state.withLock({ $0.core.isCurrent(renewal) }) else { return .success(nil) }
      if error.endsSession {
        end(.refused(error), foundBy: renewal)
      } else {
        let now = now
        state.withLock { state in
          state.core.end(renewal, error, at: now)
          if state.core.isCurrent(renewal) { state.events.append(.refreshFailed(error)) }
        }
      }
      return .failure(error)
    }
  }

  /// The renewed token, or `nil` where the renewal was made void meanwhile.
  private func renewed(
    _ renewal: SessionState.Renewal
  ) async throws(SQOAuthError) -> SQToken? {
    var record = renewal.record
    // Another process may have done it already: its token is the newest one then.
    switch await stored(preferredTo: record, renewal) {
    case .newer(let newer):
      if let token = adopt(newer, renewal) { return token }
      record = newer
    case .gone:
      // An end makes this renewal void, and its waiters look again.
      end(.signedOut, foundBy: renewal)
      return nil
    case .same, .unreadable:
      // A store that cannot be read does not keep the session from going on.
      break
    }
    do throws(SQOAuthError) {
      return await keep(try await context.renew(record, renewal.origin), of: record, renewal)
    } catch {
      guard error.endsSession else { throw error }
      switch await stored(preferredTo: record, renewal) {
      case .newer(let newer):
        // Two processes may have sent one refresh token at once; the other one's was accepted.
        if let token = adopt(newer, renewal) { return token }
        return await keep(try await context.renew(newer, renewal.origin), of: newer, renewal)
      case .unreadable(let failure):
        // What cannot be read may be newer; an end would erase it.
        throw failure
      case .same, .gone:
        throw error
      }
    }
  }

  /// What a look into the store shows.
  private enum Stored {
    case same
    case newer(AccountRecord)
    /// Another process signed the user out.
    case gone
    case unreadable(SQOAuthError)
  }

  private func stored(
    preferredTo record: AccountRecord, _ renewal: SessionState.Renewal
  ) async -> Stored {
    let stored: AccountRecord?
    do throws(SQOAuthError) {
      stored = try await load()
    } catch {
      return .unreadable(error)
    }
    return state.withLock { state -> Stored in
      guard state.core.isCurrent(renewal) else { return .same }
      guard let stored else { return state.core.wasStored ? .gone : .same }
      guard state.core.prefers(stored, to: record) else { return .same }
      return .newer(stored)
    }
  }

  /// Takes over what another process stored; returns the token if it is valid.
  private func adopt(_ record: AccountRecord, _ renewal: SessionState.Renewal) -> SQToken? {
    guard (try? context.check(record)) != nil else { return nil }
    let now = now
    return state.withLock { state in
      guard state.core.isCurrent(renewal) else { return nil }
      state.core.hold(record, at: now, isStored: true, jitter: .random(in: 0...1))
      guard let token = state.core.usableToken(at: now) else { return nil }
      state.core.end(renewal, at: now)
      state.events.append(.refreshed(token))
      return token
    }
  }

  /// Stores a new token, then shows it; a store that fails is told, the token is not given up.
  private func keep(
    _ token: SQToken, of old: AccountRecord, _ renewal: SessionState.Renewal
  ) async -> SQToken? {
    let record = AccountRecord(
      id: old.id, clientID: old.clientID, issuer: old.issuer, token: token)
    let write = state.withLock { state in
      state.core.isCurrent(renewal) ? enqueue(&state, .save(record)) : nil
    }
    guard let saved = await write?.value else { return nil }
    let now = now
    return state.withLock { state in
      guard state.core.isCurrent(renewal) else { return nil }
      state.core.hold(record, at: now, isStored: true, jitter: .random(in: 0...1))
      state.core.end(renewal, at: now)
      state.events.append(.refreshed(token))
      if case .failure(let error) = saved {
        state.core.didSave(record, error, at: now)
        state.events.append(.refreshFailed(error))
      }
      return token
    }
  }
}

extension SQOAuthError {
  /// Whether the authorization server refused the refresh token for good.
  ///
  /// - SeeAlso: RFC 6749, section 5.2
  fileprivate var endsSession: Bool { code == .invalidGrant && response != nil }
}
