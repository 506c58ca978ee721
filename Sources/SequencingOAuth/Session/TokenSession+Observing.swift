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
  /// A change of the token that is under way looks at the store itself.
  private func lookAtStore() async {
    guard let held = decide({ $0.changeUnderWay == nil ? $0.record : nil }),
      case .success(let found) = await account.look()
    else { return }
    let now = now
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
}
