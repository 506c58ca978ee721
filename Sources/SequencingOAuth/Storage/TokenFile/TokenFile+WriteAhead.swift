import SQBasics
import SQFiles

// The reservation for an account's next record, and its write-ahead copy.
extension TokenFile {
  /// Returns the newest record of an account: the stored record or its write-ahead copy.
  func record(
    _ id: String, in content: Format.Content
  ) throws(SQOAuthError) -> AccountRecord? {
    let stored = try naming("be read") { () throws(SQOAuthError) in try content.record(id) }
    guard let stored else { return nil }
    return try writeAheadCopies.copy(after: stored, format.sealer) ?? stored
  }

  /// Creates a file for the write-ahead copy of a record's successor.
  ///
  /// Without a record, it only checks that such a file can be created. The check takes the same
  /// steps as a save, with file names of the same lengths.
  ///
  /// It also acquires the token file's lock for a moment, because no new token can be saved while
  /// another program holds that lock.
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await runIfWanted { file throws(SQOAuthError) in
      try file.writeAheadCopies.checkPath()
      let hasStore = try file.writeAheadCopies.hasStore()
      guard record != nil || hasStore else {
        try file.naming("be made") { () throws(SQOAuthError) in try file.format.checkKey() }
        try file.writeAheadCopies.check(replacingStore: true)
        let lock = try file.lock()
        // The store does not exist yet, so its lock file is removed again.
        defer { lock.remove() }
        try file.checkReplacing()
        return AccountReservation()
      }
      // Before a sign-in, the caller has no lease, so this checks that a lease can be acquired.
      if record == nil { try file.locks.lease(id)?.release() }
      let lock = try file.lock()
      defer { lock.release() }
      guard record != nil, let content = try file.content(),
        let stored = try file.merged(id, content)
      else {
        _ = try file.content()
        try file.writeAheadCopies.check(replacingStore: true)
        try file.checkReplacing()
        return AccountReservation()
      }
      return try file.writeAheadCopies.reserve(
        after: stored, file.format.sealer, syncingOn: file.queue)
    }
  }

  /// Moves a write-ahead copy into the token file, and returns the account's newest record.
  ///
  /// The copy's file is about to be replaced, so a record in it must be in the token file first.
  private func merged(
    _ id: String, _ content: Format.Content
  ) throws(SQOAuthError) -> AccountRecord? {
    let stored = try naming("be read") { () throws(SQOAuthError) in try content.record(id) }
    guard let stored, let copy = try writeAheadCopies.copy(after: stored, format.sealer) else {
      return stored
    }
    try rewriteLocked(copyOf: id) { _, _ throws(SQOAuthError) in
      var content = content
      try content.save(copy)
      return content
    }
    return copy
  }

  /// Returns whether this record is safe in its write-ahead copy, although saving it failed.
  func hasWriteAheadCopy(_ record: AccountRecord) -> Bool {
    // If the token file already has the record, there is no newer copy. The method then returns
    // `false`, because after the failed save, the new content may not be on the disk.
    guard let stored = try? content()?.record(record.id) else { return false }
    return writeAheadCopies.hasSynced(record, after: stored, format.sealer)
  }

  /// Moves all write-ahead copies into the content, before the key is changed.
  ///
  /// The copies could not be read with the new key. The caller holds the token file's lock.
  ///
  /// - Throws: ``SQOAuthError/Code/accountInUse`` during a refresh, because its copy would be
  ///   sealed with the old key.
  func adopted(_ content: Format.Content?) throws(SQOAuthError) -> Format.Content? {
    guard var content else { return nil }
    for id in content.ids {
      guard try writeAheadCopies.has(id, format.sealer) else { continue }
      guard let lease = try locks.lease(id) else { throw .isRefreshed(id) }
      defer { lease.release() }
      if let newest = try record(id, in: content) { try content.save(newest) }
    }
    return content
  }

  /// Removes the write-ahead copies for earlier keys, after the key was changed.
  func removeOldWriteAheadCopies() async {
    try? await run { file throws(SQOAuthError) in
      let names = file.writeAheadCopies.names
      // This reads the file again, and so makes the sealer that of the new key.
      guard let content = try file.content(), let sealer = file.format.sealer else { return }
      try file.writeAheadCopies.remove(names, exceptOf: content.ids, sealer)
    }
  }
}

extension SQOAuthError {
  /// Creates the error for a change of a store's key during a refresh of an account.
  package static func isRefreshed(_ id: String) -> SQOAuthError {
    SQOAuthError(
      .accountInUse,
      "the account \"\(id.printable)\" is being refreshed; try later to change the store's key")
  }

  /// Repeats a change of a store's key while refreshes prevent it, for at most 30 s.
  ///
  /// - Throws: ``SQOAuthError/Code/cancelled`` if the task is cancelled during a pause.
  package static func whileRefreshed(
    _ change: () async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      do throws(SQOAuthError) {
        return try await change()
      } catch {
        guard error.code == .accountInUse, ContinuousClock.now < end else { throw error }
        do { try await Task.sleep(for: .milliseconds(50)) } catch { throw .waitCancelled }
      }
    }
  }
}
