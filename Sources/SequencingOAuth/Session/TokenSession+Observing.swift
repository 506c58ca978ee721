import SQBasics

// Takes over other processes' changes as soon as the store reports them.
extension TokenSession {
  /// Starts to observe the account in the store, unless the session already does so.
  func observe() {
    observation.begin {
      account.observe { [weak self] in
        self?.storeDidReport()
      }
    }
  }

  private func storeDidReport() {
    observation.look { [weak self] in await self?.lookAtStore() }
  }

  /// Takes over a newer record in the store, or ends the session if the store has no record now.
  ///
  /// If the store has gone back to an earlier record of this sign-in, the record in memory is saved
  /// again.
  ///
  /// During a change of the token, the method does nothing, because the change reads the store
  /// itself. The exception is a renewal that waits while another process refreshes the token: the
  /// new token is taken over as soon as it is stored.
  ///
  /// - Returns: The error if the store could not be read.
  @discardableResult
  package func lookAtStore(until end: ContinuousClock.Instant? = nil) async -> SQOAuthError? {
    let account = account
    guard let held = decide({ $0.mayTakeFromStore ? $0.record : nil }) else { return nil }
    switch await account.look(until: end) {
    case .success(let found): await take(found, besides: held, from: account)
    case .failure(let error): return error
    }
    return nil
  }

  /// Takes over what the store has besides the record in memory.
  private func take(
    _ found: AccountRecord?, besides held: AccountRecord, from account: StoredAccount
  ) async {
    if let found, found.isAncestor(of: held) { return await bringBack(held, in: account) }
    let now = now
    let renewal = decide { $0.waitingRenewal }
    if let renewal {
      if let found, endRenewal(renewal, of: held, with: found, in: account) { renewal.supersede() }
      return changed()
    }
    decide { state in
      guard state.changeUnderWay == nil, state.record == held else { return }
      if let found {
        guard account.prefers(found, to: held), (try? context.check(found)) != nil else { return }
        account.saw(found)
        state.takeFromStore(found, at: now)
      } else if state.unsavedError == nil && account.wasSeen || account.wasSeen(sessionOf: held) {
        endElsewhere(&state, in: account)
      }
    }
    changed()
  }

  /// Ends a waiting renewal if the store has another process's valid token.
  ///
  /// It returns `false` otherwise.
  private func endRenewal(
    _ renewal: TokenChange, of held: AccountRecord, with found: AccountRecord,
    in account: StoredAccount
  ) -> Bool {
    let now = now
    return decide { state in
      guard state.waitingRenewal?.number == renewal.number, state.record == held,
        found.unverifiedToken == nil, !found.token.isExpired(at: now),
        account.prefers(found, to: held), (try? context.check(found)) != nil
      else { return false }
      account.saw(found)
      state.takeFromStore(found, at: now)
      state.endRenewal(renewal, at: now)
      return true
    }
  }

  /// Writes the session's record to the store again, after the store has lost it.
  private func bringBack(_ held: AccountRecord, in account: StoredAccount) async {
    await account.leased { lease in
      // Without the lease, nothing is saved: the process that has it may be refreshing the token.
      guard lease.error == nil else { return }
      _ = await save(held, unlessNewer: await account.look(), in: account) {
        $0.changeUnderWay == nil && $0.record == held
      }
    }
    changed()
  }
}
