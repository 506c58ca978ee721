import SQBasics
import SQFoundation

// Saves records that the store does not have yet.
extension TokenSession {
  /// Writes the session's record to the store, or takes over the store's record if that is newer.
  ///
  /// If the store could not be read, nothing is saved, because its record may be newer.
  ///
  /// - Returns: The error of reading or saving; `nil` if the store has this record or a newer one,
  ///   or could be read but the record is no longer wanted.
  func save(
    _ record: AccountRecord, unlessNewer found: Result<AccountRecord?, SQOAuthError>,
    in account: StoredAccount, if isWanted: (SessionState) -> Bool
  ) async -> SQOAuthError? {
    let now = now
    var record = record
    let write = decide { state -> StoreWrites.PendingWrite? in
      guard isWanted(state) else { return nil }
      switch found {
      case .failure(let error):
        state.didSave(record, error, at: now)
        return nil
      case .success(let stored?) where isNewer(stored, than: record, in: account):
        takeOver(stored, of: account, in: &state, at: now)
        return nil
      case .success(let stored?)
      where stored.token.isSame(as: record.token)
        && (stored.session != record.session || stored.attributes == record.attributes):
        // The tokens are equal. Use the stored record, because it has the identifier of the
        // sign-in.
        hold(stored, of: account, in: &state, at: now)
        return nil
      case .success(nil) where account.wasSeen(sessionOf: record):
        endElsewhere(&state, in: account)
        return nil
      case .success(let stored):
        if let stored, state.isUnsavedAdoption {
          record = resumeAttributes(of: stored, in: record, &state)
        }
        return addSave(of: record, in: account, &state)
      }
    }
    guard let write else { return found.error }
    let error = await account.made(write).error
    finish(write, of: record, error, in: account)
    return error
  }

  /// Gives the record of a token from the app the stored attributes, unless the app has set some.
  private func resumeAttributes(
    of stored: AccountRecord, in record: AccountRecord, _ state: inout SessionState
  ) -> AccountRecord {
    guard record.attributes.isEmpty, context.newAttributes == nil else { return record }
    context.resumeAttributes(of: stored)
    let record = record.with(attributes: stored.attributes)
    state.hold(attributesOf: record)
    return record
  }

  /// Requests the save of a record; it must be called under the session's lock.
  func addSave(
    of record: AccountRecord, in account: StoredAccount, _ state: inout SessionState
  ) -> StoreWrites.PendingWrite {
    state.willSave(record)
    return account.add(.save(record))
  }

  /// Notes the result of a write; the error of a write that is not the last one does not count.
  private func finish(
    _ write: StoreWrites.PendingWrite, of record: AccountRecord, _ error: SQOAuthError?,
    in account: StoredAccount
  ) {
    let now = now
    decide { state in
      guard error == nil || account.lastWrite === write else { return }
      state.didSave(record, error, at: now)
      if error == nil { didStore(record, in: account, &state) }
    }
  }

  private func isNewer(
    _ stored: AccountRecord, than held: AccountRecord, in account: StoredAccount
  ) -> Bool {
    account.prefers(stored, to: held) && (try? context.check(stored)) != nil
  }

  /// Takes over the store's record in place of the record in memory, and reports this.
  ///
  /// A token that the app has passed in may be an old copy of the stored one. So if no store was
  /// asked to save the record in memory, the store's record does not count as another sign-in.
  private func takeOver(
    _ stored: AccountRecord, of account: StoredAccount, in state: inout SessionState, at now: Date
  ) {
    guard let held = state.record, stored.isOfAnotherSignIn(than: held), !state.isUnsavedAdoption
    else {
      hold(stored, of: account, in: &state, at: now)
      return state.report(.takenOver(stored.token))
    }
    account.saw(stored)
    state.takeFromStore(stored, at: now)
    didStore(stored, in: account, &state)
  }

  private func hold(
    _ stored: AccountRecord, of account: StoredAccount, in state: inout SessionState, at now: Date
  ) {
    account.saw(stored)
    state.hold(stored, at: now)
    didStore(stored, in: account, &state)
  }

  /// Notes that a store has a record, if it is still the environment's store.
  private func didStore(
    _ record: AccountRecord, in account: StoredAccount, _ state: inout SessionState
  ) {
    if account === self.account { state.didMove(record) }
  }

  /// Makes another attempt to save a record that the store failed to save, or the first attempt if
  /// the app has set another store.
  ///
  /// If a date is given, it does so only if the back-off has ended by then.
  func saveAgain(at date: Date?) async {
    let account = account
    guard let record = decide({ $0.recordToSaveAgain(at: date) }) else { return }
    await account.leased { _ in
      let error = await save(record, unlessNewer: await account.look(), in: account) {
        $0.recordToSaveAgain(at: date) == record
      }
      if error?.code == .accountChanged { await giveWay(with: record, in: account) }
    }
    changed()
  }

  /// Takes over another host's change of the account after a failed attempt to save a record.
  ///
  /// Otherwise, the next attempt would sign in a user who has signed out elsewhere. A store that
  /// has gone back to an earlier record of this sign-in gets the newer record at the next attempt.
  private func giveWay(with record: AccountRecord, in account: StoredAccount) async {
    guard case .success(let found) = await account.look() else { return }
    let now = now
    decide { state in
      guard state.record == record, state.changeUnderWay == nil else { return }
      guard let found else { return endElsewhere(&state, in: account) }
      guard !found.isAncestor(of: record), (try? context.check(found)) != nil else { return }
      takeOver(found, of: account, in: &state, at: now)
    }
  }

  /// Ends the session because another process signed the user out.
  func endElsewhere(_ state: inout SessionState, in account: StoredAccount) {
    _ = state.end(.signedOut, isByApp: false)
    account.sawNothing()
  }

  /// Writes the app's new attributes into the account's record in the store.
  ///
  /// - Returns: The error if the store could not be read.
  func saveAttributes() async -> SQOAuthError? {
    guard context.newAttributes != nil, unsavedError == nil, token != nil else { return nil }
    let account = account
    return await account.leased { _ in
      let found = await account.look()
      let now = now
      let write = decide { state in attributesWrite(found, in: account, &state, at: now) }
      guard let (record, write) = write else { return found.error }
      finish(write, of: record, await account.made(write).error, in: account)
      return nil
    }
  }

  /// Puts the app's new attributes into the record and requests its save; `nil` if there is nothing
  /// to write.
  private func attributesWrite(
    _ found: Result<AccountRecord?, SQOAuthError>, in account: StoredAccount,
    _ state: inout SessionState, at now: Date
  ) -> (AccountRecord, StoreWrites.PendingWrite)? {
    guard let attributes = context.newAttributes, state.changeUnderWay == nil,
      let held = state.record, case .success(let stored) = found
    else { return nil }
    guard let stored else {
      if account.wasSeen { endElsewhere(&state, in: account) }
      return nil
    }
    if isNewer(stored, than: held, in: account) {
      takeOver(stored, of: account, in: &state, at: now)
    }
    guard let record = state.record?.with(attributes: attributes, in: stored) else { return nil }
    state.hold(attributesOf: record)
    return (record, addSave(of: record, in: account, &state))
  }
}
