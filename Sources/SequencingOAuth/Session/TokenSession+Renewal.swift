import Basics

// One renewal, from the store to the store. It runs in a task of its own, which no waiting caller can
// cancel.
//
// No refresh token is sent before it is known that its successor can be kept: the account's lease is
// held, its record has been read, and the store has made room for the next one.
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
  ) async -> SharedWork<SQToken?, SQOAuthError>.Outcome {
    await leased { await outcome(of: renewal, withoutLeaseBecause: $0) }
  }

  private func outcome(
    of renewal: SessionState.Renewal, withoutLeaseBecause failure: SQOAuthError?
  ) async -> SharedWork<SQToken?, SQOAuthError>.Outcome {
    do throws(SQOAuthError) {
      // The account's holder may be about to spend the refresh token.
      if let failure, failure.code == .accountInUse { throw failure.beforeSending }
      return .success(try await renewed(renewal, withoutLeaseBecause: failure))
    } catch {
      if error.endsSession {
        guard end(.refused(error), foundBy: renewal) else { return .success(nil) }
        // A program that ends when it hears of this must not leave the account behind.
        await writesMade()
        return .failure(error)
      }
      let now = now
      return state.withLock { state in
        // If this renewal was made void, its error does not count for what replaced it.
        guard state.core.isCurrent(renewal) else { return .success(nil) }
        state.core.end(renewal, error, at: now)
        state.events.append(.refreshFailed(error))
        return .failure(error)
      }
    }
  }

  /// The renewed token, or `nil` if the renewal was made void meanwhile.
  ///
  /// Nothing is sent before the stored record is known and its successor has a place.
  private func renewed(
    _ renewal: SessionState.Renewal, withoutLeaseBecause noLease: SQOAuthError?
  ) async throws(SQOAuthError) -> SQToken? {
    var record = renewal.record
    switch await stored(preferredTo: record, renewal) {
    case .newer(let newer):
      // Another process has refreshed the token already.
      if let token = adopt(newer, renewal) { return token }
      record = newer
    case .gone:
      // The end makes this renewal void, and its waiters look again. Nothing is erased: a record
      // that is in the store by now is from a new sign-in in another process.
      end(.signedOut, foundBy: renewal, erases: false)
      return nil
    case .void:
      return nil
    case .older:
      // A store that cannot keep this record would not keep the next one either.
      if spends(record), try await !save(record, before: renewal) { return nil }
    case .unreadable(let failure):
      try refuse(record, because: failure)
    case .same(let stored):
      // An app that handed its copy of the token back does not know the sign-in's name.
      record = stored
    }
    return try await spend(record, renewal, withoutLeaseBecause: noLease)
  }

  /// Sends the refresh token once room for the answer is made sure of, and keeps the answer.
  private func spend(
    _ record: AccountRecord, _ renewal: SessionState.Renewal,
    withoutLeaseBecause noLease: SQOAuthError?, again: Bool = false
  ) async throws(SQOAuthError) -> SQToken? {
    if let noLease { try refuse(record, because: noLease) }
    let room = try await room(after: record)
    defer { room.release() }
    guard state.withLock({ $0.core.isCurrent(renewal) }) else { return nil }
    do throws(SQOAuthError) {
      return await keep(try await context.renew(record), of: record, in: room, renewal)
    } catch {
      guard error.endsSession, !again else { throw error }
      switch await stored(preferredTo: record, renewal) {
      case .newer(let newer):
        // Two processes may have sent one refresh token; the server accepted the other one's.
        if let token = adopt(newer, renewal) { return token }
        return try await spend(newer, renewal, withoutLeaseBecause: noLease, again: true)
      case .unreadable(let failure):
        // What cannot be read may be newer; an end would erase it.
        throw failure
      case .same, .older, .gone, .void:
        throw error
      }
    }
  }

  // MARK: A place for what comes back

  /// Whether a refresh of a record uses up what the server accepts only once.
  private func spends(_ record: AccountRecord) -> Bool {
    record.token.refreshToken != nil && !record.keepsRefreshToken && !context.keepsRefreshTokens
  }

  /// Ends a renewal of a record because of what is wrong with the store, unless nothing would be
  /// spent, or the app would rather live on memory.
  private func refuse(
    _ record: AccountRecord, because error: SQOAuthError
  ) throws(SQOAuthError) {
    guard spends(record), !context.environment.refreshesUnkeptTokens else { return }
    throw error.beforeSending
  }

  /// Room in the store for the successor of a record.
  private func room(after record: AccountRecord) async throws(SQOAuthError) -> AccountReservation {
    guard spends(record) else { return AccountReservation() }
    let id = accountID
    do throws(SQOAuthError) {
      return try await context.environment.tokenStore.attempt("make room for the next token") {
        try await $0.reserve(id, replacing: record)
      }
    } catch {
      try refuse(record, because: error)
      return AccountReservation()
    }
  }

  /// Saves the record that is held, which the store does not have; `false` if the renewal was made
  /// void meanwhile.
  private func save(
    _ record: AccountRecord, before renewal: SessionState.Renewal
  ) async throws(SQOAuthError) -> Bool {
    let write = state.withLock { state in
      state.core.isCurrent(renewal) ? enqueue(&state, .save(record)) : nil
    }
    guard let write else { return false }
    let saved = await made(write)
    let now = now
    state.withLock { $0.core.didSave(record, saved.error, at: now) }
    if let error = saved.error { try refuse(record, because: error) }
    return true
  }

  // MARK: The store and what another process put there

  /// What a look into the store shows.
  private enum Stored {
    /// The record of the token that is held.
    case same(AccountRecord)
    /// Another process's record.
    case newer(AccountRecord)
    /// A record that the held one replaces, or none: the store could not keep the held one.
    case older
    /// The renewal was made void meanwhile, and must send nothing.
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
      case .success(nil): return state.core.wasStored ? .gone : .older
      case .success(let stored?):
        if stored.token.isSame(as: record.token) { return .same(stored) }
        return state.core.prefers(stored, to: record) ? .newer(stored) : .older
      }
    }
  }

  /// Takes over what another process stored; returns the token if it is valid.
  private func adopt(_ record: AccountRecord, _ renewal: SessionState.Renewal) -> SQToken? {
    guard (try? context.check(record)) != nil else { return nil }
    let now = now
    return state.withLock { state in
      guard state.core.isCurrent(renewal) else { return nil }
      let isReplaced = state.core.adopt(record, at: now, jitter: .random(in: 0...1))
      let token = state.core.usableToken(at: now)
      if isReplaced {
        state.events.append(.replaced(record.token))
      } else if let token {
        state.events.append(.refreshed(token))
      }
      if token != nil { state.core.end(renewal, at: now) }
      return token
    }
  }

  /// Stores a new token, then shows it.
  ///
  /// If the store fails, the token stays in memory.
  private func keep(
    _ token: SQToken, of old: AccountRecord, in room: AccountReservation,
    _ renewal: SessionState.Renewal
  ) async -> SQToken? {
    let record = old.refreshed(token, attributes: context.attributes(after: old))
    guard state.withLock({ $0.core.isCurrent(renewal) }) else { return nil }
    // First of all: from here on no end of the process loses it.
    await room.land(record)
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

  /// The error of a refresh that sent nothing, because its answer could not have been kept.
  fileprivate var beforeSending: SQOAuthError {
    SQOAuthError(
      code, "\(message); the refresh token was not sent, because its successor could not be kept",
      cause: cause)
  }
}
