import SQBasics

/// One renewal of a session's token: it reads the store, gets a new token and stores that token.
///
/// The new token is obtained with the refresh token or, if there is none or the server refuses it,
/// by a repetition of the client's own grant, such as the client credentials grant.
///
/// It runs in a separate task, and no waiting caller can cancel it. It sends a one-time refresh
/// token only if the next token can certainly be stored: the session has the account's lease, the
/// stored record was read, and the store has a reservation for the next record. An app can disable
/// these conditions with ``ClientEnvironment/refreshesWithoutStore``, but not while another process
/// has the lease, and not after another host has changed the account.
struct Renewal: Sendable {
  typealias Outcome = SharedWork<SQToken?, SQOAuthError>.Outcome

  let session: TokenSession
  let change: TokenChange
  let account: StoredAccount
  let context: ClientContext
  /// Whether the app needs the token; an `AccountKeeper` only keeps an account valid.
  let isUse: Bool
  /// The part of the account's rights that the new token is for; `nil` for the account's own token.
  let narrowing: Narrowing?

  init(
    _ session: TokenSession, _ change: TokenChange, isUse: Bool, narrowing: Narrowing? = nil
  ) {
    self.session = session
    self.change = change
    self.isUse = isUse
    self.narrowing = narrowing
    account = session.account
    context = session.context
  }

  /// Renews a record; the outcome has no token if the renewal was invalidated in the meantime.
  func run(_ record: AccountRecord) async -> Outcome {
    await account.leased(waits: false) { lease in
      let noLease = lease.error
      // While the renewal waited, the session may have found another process's token in the store.
      guard session.decide({ $0.stopsWaiting(change) }) else { return .success(nil) }
      do throws(SQOAuthError) {
        // The process that has the lease may be about to send this refresh token.
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
    var isOfAnotherProcess = false
    switch await find(besides: held) {
    case .newer(let stored):
      // Another process has renewed the token already.
      if let token = takeFromStore(stored) { return token }
      (record, isOfAnotherProcess) = (stored, true)
    case .gone:
      // The end of the session invalidates this renewal, and waiting callers ask for a token again.
      // Nothing is erased: if the store has a record now, it comes from a new sign-in in another
      // process.
      session.end(.signedOut, foundBy: change, in: account, erases: false)
      return nil
    case .superseded:
      return nil
    case .older:
      // If the store cannot keep this record, it would not keep the next one either.
      if consumesRefreshToken(record), try await !save(record) { return nil }
    case .unreadable(let error): try refuse(record, because: error)
    // Use the stored record: it has the sign-in's identifier. If the app set the token from its own
    // copy, the record in memory has a new identifier instead.
    case .same(let stored): record = stored
    }
    if narrowing == nil,
      let token = try await identify(record, isOfAnotherProcess: isOfAnotherProcess)
    {
      return token
    }
    return try await sendRefreshToken(record, withoutLeaseBecause: noLease)
  }

  // MARK: Reading the store

  /// The account's record in the store, compared with the record in memory.
  private enum Stored {
    /// The stored record has the same token as the one in memory.
    case same(AccountRecord)
    /// The store has another process's record; it replaces the one in memory.
    case newer(AccountRecord)
    /// The store has an older record or none, because it failed to save the one in memory.
    case older
    /// The store has no record, because another process signed the user out.
    case gone
    case unreadable(SQOAuthError)
    /// The renewal was invalidated, so it must not send anything.
    case superseded
  }

  private func find(besides held: AccountRecord) async -> Stored {
    let found = await account.look()
    guard isCurrent else { return .superseded }
    switch found {
    case .failure(let error): return .unreadable(error)
    case .success(nil):
      let isSaved = session.unsavedError == nil && account.wasSeen
      return isSaved || account.wasSeen(sessionOf: held) ? .gone : .older
    case .success(let stored?):
      if stored.token.isSame(as: held.token) { return .same(stored) }
      return account.prefers(stored, to: held) ? .newer(stored) : .older
    }
  }

  /// Takes over a record that another process stored.
  ///
  /// - Returns: The record's token if it is valid; `nil` if the renewal must get another token, or
  ///   was invalidated.
  func takeFromStore(_ record: AccountRecord) -> SQToken? {
    guard (try? context.check(record)) != nil else { return nil }
    let now = session.now
    return session.decide { state in
      guard state.isCurrent(change) else { return nil }
      account.saw(record)
      state.takeFromStore(record, at: now)
      let token = narrowing == nil ? state.usableToken(at: now) : nil
      if token != nil { state.endRenewal(change, at: now) }
      return token
    }
  }

  /// Writes the session's record to the store, because the store does not have it.
  ///
  /// - Returns: `false` if the renewal was invalidated in the meantime.
  private func save(_ record: AccountRecord) async throws(SQOAuthError) -> Bool {
    guard let saved = await saved(record) else { return false }
    let error = saved.error
    let now = session.now
    session.decide { $0.didSave(record, error, at: now) }
    if let error { try refuse(record, because: error) }
    return true
  }

  // MARK: The request

  /// The time from the reservation of space until the request must have ended.
  ///
  /// 160 s after a reservation, a database may give the account to another host.
  private static let longestExchange = Duration.seconds(150)

  /// Reserves space in the store, gets the next token from the server, and stores it.
  private func sendRefreshToken(
    _ record: AccountRecord, withoutLeaseBecause noLease: SQOAuthError?, again: Bool = false
  ) async throws(SQOAuthError) -> SQToken? {
    if let noLease { try refuse(record, because: noLease) }
    // Creating the client may fetch the server's metadata. The store's time limit for the token
    // request begins with the reservation of space, so the client is created before it.
    let client = try await context.renewingClient(of: record)
    // The time before the reservation counts, because the machine may sleep at any later moment.
    let end = client.environment.clock.steadyTime + Self.longestExchange
    let reservation = try await reservation(after: record)
    defer { reservation.release() }
    guard isCurrent else { return nil }
    let refreshed: RefreshedToken
    do throws(SQOAuthError) {
      refreshed = try await context.renew(
        record, by: client, narrowedTo: narrowing?.access, until: end)
    } catch {
      let isRefusedExchange = isExchange && error.response != nil && !error.isOutage
      guard isFinal(error, for: record) || isRefusedExchange else { throw error }
      if !again {
        switch await find(besides: record) {
        case .newer(let stored):
          // Two processes may have sent this refresh token; the server accepted the other process's
          // request.
          if let token = takeFromStore(stored) { return token }
          return try await sendRefreshToken(stored, withoutLeaseBecause: noLease, again: true)
        case .unreadable(let failure):
          // The store's record cannot be read, but may be newer. Ending the session would erase it.
          throw failure
        case .gone, .superseded: throw error
        case .same, .older: break
        }
      }
      guard !isExchange, error.refusesRefreshToken, let rest = record.withoutRefreshToken() else {
        throw error
      }
      // The refused refresh token must not be sent again, even if the next request fails.
      guard await hold(rest) else { return nil }
      return try await sendRefreshToken(rest, withoutLeaseBecause: noLease, again: true)
    }
    return try await keep(refreshed, of: record, by: client, in: reservation)
  }

  /// Returns whether a record's refresh token or grant will get no token after an error.
  ///
  /// Some servers refuse a refresh token with a code that may also blame the request. Then the
  /// tokens are kept, unless the client can repeat its own grant. A refusal of fewer rights does not
  /// concern the account.
  private func isFinal(_ error: SQOAuthError, for record: AccountRecord) -> Bool {
    error.endsSession
      || record.grant != nil && narrowing == nil && error.refusesRefreshToken
  }

  /// Reserves space in the store for the record that will replace `record`.
  private func reservation(after record: AccountRecord) async throws(SQOAuthError)
    -> AccountReservation
  {
    guard consumesRefreshToken(record), !isExchange else { return AccountReservation() }
    do throws(SQOAuthError) {
      return try await account.reservation(after: record)
    } catch {
      try refuse(record, because: error)
      return AccountReservation()
    }
  }

  /// Returns whether the record has a refresh token that the server accepts only once.
  private func consumesRefreshToken(_ record: AccountRecord) -> Bool {
    record.token.refreshToken != nil && !record.reusesRefreshToken && !context.reusesRefreshTokens
  }

  /// Throws a store's error if the refresh must not continue without the store.
  ///
  /// It may continue if it consumes no refresh token, or if the app accepts a token that is only in
  /// memory. It must not continue if another host may have sent the same refresh token.
  private func refuse(
    _ record: AccountRecord, because error: SQOAuthError
  ) throws(SQOAuthError) {
    let mayBeSentTwice = error.code == .accountChanged
    guard consumesRefreshToken(record), mayBeSentTwice || !context.environment.refreshesWithoutStore
    else {
      return
    }
    throw error.beforeSending
  }
}
