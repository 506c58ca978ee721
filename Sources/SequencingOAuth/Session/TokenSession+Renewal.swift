import LoopbackHTTP

// One renewal, from the store to the store. It runs in a task of its own, which nobody who waits
// for it can cancel.
extension TokenSession {
  func start(_ renewal: SessionState.Renewal) {
    renewal.work.start(here: true) {
      let outcome = await self.outcome(of: renewal)
      self.changed()
      renewal.work.outcome.resolve(outcome)
    }
  }

  private func outcome(
    of renewal: SessionState.Renewal
  ) async -> SharedWork<SQToken?>.Outcome {
    await leased { await outcome(of: renewal, withoutLeaseBecause: $0) }
  }

  private func outcome(
    of renewal: SessionState.Renewal, withoutLeaseBecause failure: SQOAuthError?
  ) async -> SharedWork<SQToken?>.Outcome {
    do throws(SQOAuthError) {
      // Whoever has the account may be about to spend the refresh token. A store that cannot lock,
      // though, does not keep the session from going on.
      if let failure, failure.code == .accountInUse { throw failure }
      return .success(try await renewed(renewal))
    } catch {
      if error.endsSession {
        guard end(.refused(error), foundBy: renewal) else { return .success(nil) }
        // A program that ends when it hears of this must not leave the account behind.
        await writesMade()
        return .failure(error)
      }
      let now = now
      return state.withLock { state in
        // A failure of what was made void is no failure of what came in its place.
        guard state.core.isCurrent(renewal) else { return .success(nil) }
        state.core.end(renewal, error, at: now)
        state.events.append(.refreshFailed(error))
        return .failure(error)
      }
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
      // An end makes this renewal void, and its waiters look again. There is nothing to erase:
      // what is in the store by now is from a new sign-in elsewhere.
      end(.signedOut, foundBy: renewal, erases: false)
      return nil
    case .void:
      return nil
    case .same, .unreadable:
      // A store that cannot be read does not keep the session from going on.
      break
    }
    do throws(SQOAuthError) {
      return await keep(try await context.renew(record), of: record, renewal)
    } catch {
      guard error.endsSession else { throw error }
      switch await stored(preferredTo: record, renewal) {
      case .newer(let newer):
        // Two processes may have sent one refresh token at once; the other one's was accepted.
        if let token = adopt(newer, renewal) { return token }
        return await keep(try await context.renew(newer), of: newer, renewal)
      case .unreadable(let failure):
        // What cannot be read may be newer; an end would erase it.
        throw failure
      case .same, .gone, .void:
        throw error
      }
    }
  }

  /// What a look into the store shows.
  private enum Stored {
    case same
    case newer(AccountRecord)
    /// The renewal was made void meanwhile, and is to send nothing.
    case void
    /// Another process signed the user out.
    case gone
    case unreadable(SQOAuthError)
  }

  private func stored(
    preferredTo record: AccountRecord, _ renewal: SessionState.Renewal
  ) async -> Stored {
    let found = await look()
    return state.withLock { state -> Stored in
      guard state.core.isCurrent(renewal) else { return .void }
      switch found {
      case .failure(let error): return .unreadable(error)
      case .success(nil): return state.core.wasStored ? .gone : .same
      case .success(let stored?):
        return state.core.prefers(stored, to: record) ? .newer(stored) : .same
      }
    }
  }

  /// Takes over what another process stored; returns the token if it is valid.
  private func adopt(_ record: AccountRecord, _ renewal: SessionState.Renewal) -> SQToken? {
    guard (try? context.check(record)) != nil else { return nil }
    let now = now
    return state.withLock { state in
      guard state.core.isCurrent(renewal) else { return nil }
      state.core.storeHolds(record.token)
      state.core.hold(record, at: now, jitter: .random(in: 0...1))
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
    let record = old.with(token, attributes: context.attributes(after: old))
    let write = state.withLock { state in
      state.core.isCurrent(renewal) ? enqueue(&state, .save(record)) : nil
    }
    guard let write else { return nil }
    let saved = await made(write)
    let now = now
    return state.withLock { state in
      guard state.core.isCurrent(renewal) else { return nil }
      state.core.hold(record, at: now, jitter: .random(in: 0...1))
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
