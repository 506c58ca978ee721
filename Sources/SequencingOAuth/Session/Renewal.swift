import Basics

/// One renewal of a session's token, from the store to the store.
///
/// It runs in a task of its own, which no waiting caller can cancel. No refresh token is sent before
/// it is known that its successor can be kept: the session has the account's lease, the stored record
/// has been read, and the store has made room for the next one.
struct Renewal: Sendable {
  typealias Outcome = SharedWork<SQToken?, SQOAuthError>.Outcome

  let session: TokenSession
  let change: TokenChange
  private let account: StoredAccount
  private let context: ClientContext

  init(_ session: TokenSession, _ change: TokenChange) {
    self.session = session
    self.change = change
    account = session.account
    context = session.context
  }

  /// Renews a record; the outcome has no token if the renewal was made void meanwhile.
  func run(_ record: AccountRecord) async -> Outcome {
    await account.leased { noLease in
      do throws(SQOAuthError) {
        // The process that has the lease may be about to send the refresh token.
        if let noLease, noLease.code == .accountInUse { throw noLease.beforeSending }
        return .success(try await token(from: record, withoutLeaseBecause: noLease))
      } catch {
        return await failed(error)
      }
    }
  }

  private func token(
    from held: AccountRecord, withoutLeaseBecause noLease: SQOAuthError?
  ) async throws(SQOAuthError) -> SQToken? {
    var record = held
    switch await find(besides: held) {
    case .newer(let stored):
      // Another process has renewed the token already.
      if let token = adopt(stored) { return token }
      record = stored
    case .gone:
      // The end makes this renewal void, and its callers ask again. Nothing is erased: a record that
      // is in the store by now is from a new sign-in in another process.
      session.end(.signedOut, foundBy: change, erases: false)
      return nil
    case .void:
      return nil
    case .older:
      // A store that cannot keep this record would not keep the next one either.
      if spends(record), try await !save(record) { return nil }
    case .unreadable(let error):
      try refuse(record, because: error)
    case .same(let stored):
      // An app that handed its copy of the token back does not know the sign-in's name.
      record = stored
    }
    return try await spend(record, withoutLeaseBecause: noLease)
  }

  // MARK: What the store has

  private enum Stored {
    /// The record of the token that is held.
    case same(AccountRecord)
    /// Another process's record.
    case newer(AccountRecord)
    /// A record that the held one replaces, or none: the store could not keep the held one.
    case older
    /// No record: another process signed the user out.
    case gone
    case unreadable(SQOAuthError)
    /// Whatever the store has: the renewal was made void, and must send nothing.
    case void
  }

  private func find(besides held: AccountRecord) async -> Stored {
    let found = await account.look()
    guard isCurrent else { return .void }
    switch found {
    case .failure(let error): return .unreadable(error)
    case .success(nil):
      return account.wasSeen && session.unsavedError == nil ? .gone : .older
    case .success(let stored?):
      if stored.token.isSame(as: held.token) { return .same(stored) }
      return account.prefers(stored, to: held) ? .newer(stored) : .older
    }
  }

  /// Takes over what another process stored; returns the token if it is valid.
  private func adopt(_ record: AccountRecord) -> SQToken? {
    guard (try? context.check(record)) != nil else { return nil }
    let now = session.now
    return session.decide { state in
      guard state.isCurrent(change) else { return nil }
      account.saw(record.token)
      state.adopt(record, at: now)
      let token = state.usableToken(at: now)
      if token != nil { state.endRenewal(change, at: now) }
      return token
    }
  }

  /// Saves the record that is held, which the store does not have.
  ///
  /// - Returns: `false` if the renewal was made void meanwhile.
  private func save(_ record: AccountRecord) async throws(SQOAuthError) -> Bool {
    guard let write = addSave(of: record) else { return false }
    let error = await account.made(write).error
    let now = session.now
    session.decide { $0.didSave(record, error, at: now) }
    if let error { try refuse(record, because: error) }
    return true
  }

  // MARK: The request

  /// Sends the refresh token once the store has room for the answer, and keeps the answer.
  private func spend(
    _ record: AccountRecord, withoutLeaseBecause noLease: SQOAuthError?, again: Bool = false
  ) async throws(SQOAuthError) -> SQToken? {
    if let noLease { try refuse(record, because: noLease) }
    let room = try await room(after: record)
    defer { room.release() }
    guard isCurrent else { return nil }
    do throws(SQOAuthError) {
      return await keep(try await context.renew(record), of: record, in: room)
    } catch {
      guard error.endsSession, !again else { throw error }
      switch await find(besides: record) {
      case .newer(let stored):
        // Two processes may have sent one refresh token; the server accepted the other one's.
        if let token = adopt(stored) { return token }
        return try await spend(stored, withoutLeaseBecause: noLease, again: true)
      case .unreadable(let failure):
        // What cannot be read may be newer; an end would erase it.
        throw failure
      case .same, .older, .gone, .void:
        throw error
      }
    }
  }

  /// Room in the store for the successor of a record.
  private func room(after record: AccountRecord) async throws(SQOAuthError) -> AccountReservation {
    guard spends(record) else { return AccountReservation() }
    do throws(SQOAuthError) {
      return try await account.room(after: record)
    } catch {
      try refuse(record, because: error)
      return AccountReservation()
    }
  }

  /// Whether a refresh of a record uses up what the server accepts only once.
  private func spends(_ record: AccountRecord) -> Bool {
    record.token.refreshToken != nil && !record.keepsRefreshToken && !context.keepsRefreshTokens
  }

  /// Throws what is wrong with the store, unless nothing would be spent, or the app prefers to go on
  /// with a token in memory only.
  private func refuse(
    _ record: AccountRecord, because error: SQOAuthError
  ) throws(SQOAuthError) {
    guard spends(record), !context.environment.refreshesUnkeptTokens else { return }
    throw error.beforeSending
  }

  // MARK: The end

  /// Stores a new token, then shows it; if the store fails, the token stays in memory.
  private func keep(
    _ token: SQToken, of old: AccountRecord, in room: AccountReservation
  ) async -> SQToken? {
    let record = old.refreshed(token, attributes: context.attributes(after: old))
    guard isCurrent else { return nil }
    // First of all: from here on no end of the process loses the token.
    await room.land(record)
    guard let write = addSave(of: record) else { return nil }
    let saved = await account.made(write)
    let now = session.now
    return session.decide { state in
      guard state.isCurrent(change) else { return nil }
      state.hold(record, at: now)
      state.endRenewal(change, at: now)
      state.report(.refreshed(token))
      if case .failure(let error) = saved {
        state.didSave(record, error, at: now)
        state.report(.refreshFailed(error))
      }
      return token
    }
  }

  private func failed(_ error: SQOAuthError) async -> Outcome {
    if error.endsSession {
      guard session.end(.refused(error), foundBy: change) else { return .success(nil) }
      // A program that ends when it hears of this must not leave the account behind.
      await account.allMade()
      return .failure(error)
    }
    let now = session.now
    return session.decide { state in
      // If this renewal was made void, its error does not count for the change that replaced it.
      guard state.fail(change, error, at: now) else { return .success(nil) }
      state.report(.refreshFailed(error))
      return .failure(error)
    }
  }

  // MARK: Whether it still stands

  private var isCurrent: Bool { session.decide { $0.isCurrent(change) } }

  private func addSave(of record: AccountRecord) -> StoreWrites.Write? {
    session.decide { $0.isCurrent(change) ? account.add(.save(record)) : nil }
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
