import Basics

// Room for the next record of an account, and the record while it waits there.
extension TokenFile {
  /// The newest record of an account: the file's, or its successor that has landed beside it.
  func record(
    _ id: String, in content: Format.Content
  ) throws(SQOAuthError) -> AccountRecord? {
    let stored = try naming("be read") { () throws(SQOAuthError) in try content.record(id) }
    guard let stored else { return nil }
    return try landings.landed(after: stored, format.sealer) ?? stored
  }

  /// Makes a landing file for the successor of a record, or finds out whether one could be made.
  ///
  /// The file's lock is taken and let go: where a foreign program keeps it, the answer could not be
  /// put into the file.
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await run { file throws(SQOAuthError) in
      guard record != nil || file.landings.hasStore else {
        try file.naming("be made") { () throws(SQOAuthError) in try file.format.checkKey() }
        try file.landings.check()
        return AccountReservation()
      }
      // A new sign-in may not have the lease; its refreshes will need it.
      if record == nil { try file.locks.lease(id)?.release() }
      let lock = try file.lock()
      defer { lock.release() }
      guard record != nil, let content = try file.content(),
        let stored = try file.settled(id, content)
      else {
        _ = try file.content()
        try file.landings.check()
        return AccountReservation()
      }
      return try file.landings.reserve(
        after: stored, file.format.sealer, syncingOn: file.queue)
    }
  }

  /// The newest record of an account, which the file has when this returns: its landing file is
  /// about to be made anew.
  private func settled(
    _ id: String, _ content: Format.Content
  ) throws(SQOAuthError) -> AccountRecord? {
    let stored = try naming("be read") { () throws(SQOAuthError) in try content.record(id) }
    guard let stored, let landed = try landings.landed(after: stored, format.sealer) else {
      return stored
    }
    try rewriteLocked(landing: id) { _, _ throws(SQOAuthError) in
      var content = content
      try content.save(landed)
      return content
    }
    return landed
  }

  /// Whether a record is safe beside the file, though the file itself could not be written.
  func hasLanded(_ record: AccountRecord) async -> Bool {
    let landed =
      try? await run { file throws(SQOAuthError) in
        // If the file has the record already, its name may not be safe yet: that is no landing.
        guard let stored = try file.content()?.record(record.id) else { return nil }
        return try file.landings.landed(after: stored, file.format.sealer)
      } as AccountRecord?
    return landed == record
  }

  /// The content with every record that has landed, for a change of the key.
  ///
  /// Under the new key the landing files could not be read. The file's lock is held.
  ///
  /// - Throws: ``SQOAuthError/Code/accountInUse`` while a refresh is under way, whose answer is yet
  ///   to land under the old key.
  func adopted(_ content: Format.Content?) throws(SQOAuthError) -> Format.Content? {
    guard var content else { return nil }
    for id in content.ids where landings.has(id, format.sealer) {
      guard let lease = try locks.lease(id) else { throw .isRefreshed(id) }
      defer { lease.release() }
      if let newest = try record(id, in: content) { try content.save(newest) }
    }
    return content
  }

  /// Removes the landing files of all accounts, which were sealed under an old key.
  func removeLandings(sealedBy sealer: RecordSealer?) async {
    try? await run { file throws(SQOAuthError) in
      for id in try file.content()?.ids ?? [] { try file.landings.remove(id, sealer) }
    }
  }
}

extension SQOAuthError {
  /// A change of a store's key meets a refresh.
  package static func isRefreshed(_ id: String) -> SQOAuthError {
    SQOAuthError(
      .accountInUse,
      "the account \"\(id.printable)\" is being refreshed; change the key again later")
  }

  /// Repeats a change of a store's key for as long as refreshes are under way, 30 s at most.
  package static func whileRefreshed(
    _ change: () async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      do throws(SQOAuthError) {
        return try await change()
      } catch {
        guard error.code == .accountInUse, ContinuousClock.now < end else { throw error }
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
