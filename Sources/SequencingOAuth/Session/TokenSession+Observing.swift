// Taking over what other processes change in the store, as soon as the store tells of it.
extension TokenSession {
  /// Begins to observe the account in the store, unless the session does so already.
  func observe() {
    observation.begin {
      context.environment.tokenStore.observe(account.id) { [weak self] in
        self?.storeDidChange()
      }
    }
  }

  private func storeDidChange() {
    observation.look { [weak self] in await self?.lookAtStore() }
  }

  /// Takes over a newer record in the store, or ends the session if the store has none any more.
  ///
  /// If the store has an earlier record of this sign-in again, it gets the newest one back.
  ///
  /// A change of the token that is under way looks at the store itself, unless it is a renewal that
  /// waits while another process refreshes the token: the new one is taken over as soon as it is
  /// there.
  private func lookAtStore() async {
    guard let held = decide({ $0.mayTakeFromStore ? $0.record : nil }),
      case .success(let found) = await account.look()
    else { return }
    if let found, found.isAncestor(of: held) { return await bringBack(held) }
    let now = now
    let renewal = decide { $0.waitingRenewal }
    if let renewal {
      if let found, endRenewal(renewal, of: held, with: found) { renewal.makeVoid() }
      return changed()
    }
    decide { state in
      guard state.changeUnderWay == nil, state.record == held else { return }
      if let found {
        guard account.prefers(found, to: held), (try? context.check(found)) != nil else { return }
        account.saw(found)
        state.takeFromStore(found, at: now)
      } else if state.unsavedError == nil && account.wasSeen || account.wasSeen(sessionOf: held) {
        endElsewhere(&state)
      }
    }
    changed()
  }

  /// Ends a renewal that waits, if the store has a valid token of another process; returns `false`
  /// otherwise.
  private func endRenewal(
    _ renewal: TokenChange, of held: AccountRecord, with found: AccountRecord
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

  /// Saves the record in memory again, which the store has lost.
  private func bringBack(_ held: AccountRecord) async {
    await account.leased { noLease in
      // The process that has the lease may be refreshing.
      guard noLease == nil else { return }
      _ = await save(held, unlessNewer: await account.look()) {
        $0.changeUnderWay == nil && $0.record == held
      }
    }
    changed()
  }
}
