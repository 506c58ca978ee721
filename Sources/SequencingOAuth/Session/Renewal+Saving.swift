import SQBasics

// The end of a renewal: the storage of the new token, and the handling of a failure.
extension Renewal {
  /// Stores a new token and makes it the session's token, even if the store fails.
  ///
  /// A token with fewer rights does not replace the session's access token.
  ///
  /// If there is a new ID token, the new refresh token is stored first, and the new access token is
  /// used only after the ID token has been validated.
  func keep(
    _ refreshed: RefreshedToken, of old: AccountRecord, by client: RegisteredClient,
    in reservation: AccountReservation
  ) async throws(SQOAuthError) -> SQToken? {
    let record = old.refreshed(
      refreshed.token, by: refreshed.grant, attributes: context.attributes(after: old),
      usedAt: isUse ? nil : old.lastUse, pending: pending(refreshed, after: old),
      serverNonce: client.serverNonce, tokenEndpoint: client.tokenEndpoint(ofIssuer: old.issuer))
    guard isCurrent else { return nil }
    // Write a copy into the reserved space first, so that the token is not lost if the process
    // ends.
    await reservation.writeAhead(record)
    if let failure = refreshed.failure {
      guard await hold(record) else { return nil }
      throw failure
    }
    if let narrowing, let narrowed = refreshed.narrowed {
      // Without a refresh token, the client repeats its grant, and the account's record stays as it
      // was. An exchange leaves the refresh token as it was.
      let changed = old.token.refreshToken == nil || isExchange ? nil : record
      return await finish(narrowed, for: narrowing, storing: changed)
    }
    guard let identity = refreshed.identity else { return await finish(record) }
    guard await hold(record) else { return nil }
    return await finish(record, identifiedBy: try await identity.run(refreshed.token))
  }

  /// Returns the token that must wait until its ID token is validated; `nil` if there is none.
  private func pending(_ refreshed: RefreshedToken, after old: AccountRecord) -> SQToken? {
    if refreshed.identity != nil { return refreshed.token }
    guard narrowing != nil else { return nil }
    return old.unverifiedToken?.keeping(refreshToken: refreshed.token.refreshToken)
  }

  /// Ends the renewal with the token that waited for the validation of its ID token.
  private func finish(
    _ record: AccountRecord, identifiedBy result: (token: SQToken, flaw: SQOAuthError?),
    isOfAnotherProcess: Bool = false
  ) async -> SQToken? {
    if let flaw = result.flaw {
      session.decide { if $0.isCurrent(change) { $0.report(.idTokenIgnored(flaw)) } }
    }
    return await finish(
      record.verified(result.token), isOfAnotherProcess: isOfAnotherProcess)
  }

  /// Validates the ID token that an earlier refresh returned but could not validate.
  ///
  /// Returns `nil` if there is no such ID token, or if it is rejected, because another refresh may
  /// bring a valid one.
  func identify(
    _ record: AccountRecord, isOfAnotherProcess: Bool
  ) async throws(SQOAuthError) -> SQToken? {
    guard let token = record.unverifiedToken,
      let identity = try await context.identification(of: record)
    else { return nil }
    do throws(SQOAuthError) {
      return await finish(
        record, identifiedBy: try await identity.run(token), isOfAnotherProcess: isOfAnotherProcess)
    } catch {
      guard error.refusesIDToken, !error.endsSession else { throw error }
      return nil
    }
  }

  /// Stores the new record, makes it the session's record, and ends the renewal.
  private func finish(
    _ record: AccountRecord, isOfAnotherProcess: Bool = false
  ) async -> SQToken? {
    guard let saved = await saved(record), await !gaveWay(saved.error, with: record) else {
      return nil
    }
    let now = session.now
    return session.decide { state in
      guard state.isCurrent(change) else { return nil }
      state.hold(record, at: now)
      state.endRenewal(change, at: now)
      if isOfAnotherProcess {
        state.report(.takenOver(record.token))
      } else {
        state.refreshes += 1
        state.report(.refreshed(record.token))
      }
      if case .failure(let error) = saved {
        state.didSave(record, error, at: now)
        state.report(.refreshFailed(error))
      }
      return record.token
    }
  }

  /// Stores the new refresh token, but keeps the session's access token.
  ///
  /// The response's access token may be unusable or have fewer rights, or it may have to wait for
  /// the validation of the response's ID token.
  ///
  /// - Returns: `false` if the renewal was invalidated in the meantime.
  func hold(_ record: AccountRecord) async -> Bool {
    guard let saved = await saved(record), await !gaveWay(saved.error, with: record) else {
      return false
    }
    let now = session.now
    return session.decide { state in
      guard state.isCurrent(change) else { return false }
      state.holdRefreshToken(of: record, at: now)
      state.didSave(record, saved.error, at: now)
      return true
    }
  }

  /// Takes over the store's current record if another host changed the account during the request.
  ///
  /// Waiting callers then ask the session for a token again. Returns `false` if no other host
  /// changed the account, or if the store cannot be read.
  ///
  /// It also returns `false` if the store has gone back to an earlier record of this sign-in. Then
  /// the new record is the newest one, and the session saves it again later.
  private func gaveWay(_ error: SQOAuthError?, with record: AccountRecord) async -> Bool {
    guard error?.code == .accountChanged, case .success(let found) = await account.look() else {
      return false
    }
    if let found {
      if found.isAncestor(of: record) { return false }
      _ = takeFromStore(found)
      session.decide { $0.end(change) }
    } else {
      session.end(.signedOut, foundBy: change, in: account, erases: false)
    }
    return true
  }

  func failed(_ error: SQOAuthError) async -> Outcome {
    if error.endsSession, !isExchange {
      guard session.end(.refused(error), foundBy: change, in: account) else { return .success(nil) }
      // Wait for the erasure: the program may exit when it gets the error, and the account must not
      // stay in the store.
      await account.allMade()
      return .failure(error)
    }
    if let narrowing { return failed(error, for: narrowing) }
    let now = session.now
    let counts = session.decide { state in
      // If this renewal was invalidated, its error does not apply to the change that replaced it.
      guard state.fail(change, error, at: now) else { return false }
      state.report(.refreshFailed(error))
      return true
    }
    guard counts else { return .success(nil) }
    session.tellBackOff(after: error)
    return .failure(error)
  }

  // MARK: Checks for invalidation

  var isCurrent: Bool { session.decide { $0.isCurrent(change) } }

  /// Writes a record to the store; returns `nil` if the renewal was invalidated in the meantime.
  func saved(_ record: AccountRecord) async -> Result<Void, SQOAuthError>? {
    let write = session.decide { state in
      state.isCurrent(change) ? session.addSave(of: record, in: account, &state) : nil
    }
    guard let write else { return nil }
    return await account.made(write)
  }
}
