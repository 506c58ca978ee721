import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What the store does not have yet.
extension TokenSession {
  /// Saves the record that is held, unless the store has a newer one, which the session takes over.
  ///
  /// A store that could not be read is left alone: its record may be newer.
  ///
  /// - Returns: Why the store does not have the record.
  func save(
    _ record: AccountRecord, unlessNewer found: Result<AccountRecord?, SQOAuthError>,
    if isWanted: (SessionState) -> Bool
  ) async -> SQOAuthError? {
    let now = now
    let write = decide { state -> StoreWrites.Write? in
      guard isWanted(state) else { return nil }
      switch found {
      case .failure(let error):
        state.didSave(record, error, at: now)
        return nil
      case .success(let stored?) where isNewer(stored, than: record):
        hold(stored, in: &state, at: now)
        state.report(.refreshed(stored.token))
        return nil
      case .success(let stored?) where stored.token.isSame(as: record.token):
        // The same sign-in, which keeps its name.
        hold(stored, in: &state, at: now)
        return nil
      case .success:
        return account.add(.save(record))
      }
    }
    guard let write else { return found.error }
    let error = await account.made(write).error
    let then = self.now
    decide { $0.didSave(record, error, at: then) }
    return error
  }

  private func isNewer(_ stored: AccountRecord, than held: AccountRecord) -> Bool {
    account.prefers(stored, to: held) && (try? context.check(stored)) != nil
  }

  private func hold(_ stored: AccountRecord, in state: inout SessionState, at now: Date) {
    account.saw(stored.token)
    state.hold(stored, at: now)
  }

  /// Saves a record again that the store had refused: if a date is given, only when the back-off is
  /// over by then.
  func saveAgain(at date: Date?) async {
    guard let record = decide({ $0.recordToSaveAgain(at: date) }) else { return }
    await account.leased { _ in
      _ = await save(record, unlessNewer: await account.look()) {
        $0.recordToSaveAgain(at: date) == record
      }
    }
  }

  /// Returns when no change of the token is under way and the store has the newest token.
  ///
  /// - Throws: Why the store does not have it; it is in memory only then.
  func settle() async throws(SQOAuthError) {
    // In a task of its own: a program that is about to end may have cancelled the caller's.
    let settling = Task { () -> SQOAuthError? in
      _ = try? await settled()
      await account.allMade()
      await saveAgain(at: nil)
      if let write = account.eraseAgain() { _ = await account.made(write) }
      changed()
      return unsavedError ?? account.owedErase
    }
    if let error = await settling.value { throw error }
  }
}
