import SQBasics
import SQFoundation
public import SequencingOAuth

// Logouts that the provider reports to a server of the app.

extension AccountOperations {
  /// Ends the session if a provider's logout token names it.
  ///
  /// The app's server receives the token as the parameter `logout_token` of a POST. Answer with
  /// status 200 if this call returns, and with 400 if it throws. If the token names this account's
  /// session, the tokens are removed from memory and the store, and the delegate gets
  /// `SessionEnd.loggedOut`. A server with many accounts calls
  /// ``AccountManager/handleLogoutToken(_:for:)`` instead.
  ///
  /// - Returns: The validated token, and whether it named this session.
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.logoutTokenInvalid` if the token breaks a rule or
  ///   was used before; the error of the request for the issuer's keys; the store's error.
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8
  @discardableResult
  public func handleLogoutToken(
    _ text: String
  ) async throws(SQOAuthError) -> LogoutTokenOutcome {
    try await module.handling(text) { [module] token throws(SQOAuthError) in
      LogoutTokenOutcome(token: token, endedSession: try await module.end(ifNamedBy: token))
    }
  }
}

extension AuthorizationModule {
  /// Validates a logout token, runs `work`, and then marks the token as used.
  ///
  /// If `work` fails, the provider can send the same token again. But if the list of one-time
  /// values cannot look a token up, the token is marked before `work` runs. `work` continues if the
  /// caller is cancelled, because web servers cancel a request's task when its connection is lost.
  ///
  /// - Throws: `SQOAuthError.Code.logoutTokenInvalid` if the token is invalid or was used before.
  func handling<Value: Sendable>(
    _ text: String, _ work: @escaping @Sendable (LogoutToken) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    // Anyone may send a text, so a text that cannot be a token must not cause a request to the
    // provider.
    let text = try SignedText.logoutToken.read(text)
    let client = try await context.client(for: .strangers, needs: .identity)
    let token = try await logoutToken(text, client)
    return try await uncancelled { () throws(SQOAuthError) in
      let mark = LogoutTokenMark(token, client)
      let wasUsed = try await mark.wasUsed()
      let isFirst = if let wasUsed { !wasUsed } else { try await mark.leave() }
      guard isFirst else {
        throw SQOAuthError(
          .logoutTokenInvalid, "the logout token was used before; no session ended")
      }
      let value = try await work(token)
      // The result does not matter: if a simultaneous call has marked the token first, that call
      // has ended the same sessions.
      if wasUsed != nil { _ = try await mark.leave() }
      return value
    }
  }

  private func logoutToken(
    _ text: CompactJWS, _ client: RegisteredClient
  ) async throws(SQOAuthError) -> LogoutToken {
    let configuration = client.configuration
    let signatures = try client.signatures()
    return try LogoutToken(
      try await signatures.claims(of: text, as: .logoutToken).claims, issuer: signatures.issuer,
      clientID: configuration.clientID, clockTolerance: configuration.clockTolerance,
      now: client.environment.clock.now)
  }

  /// Ends the session in memory and in the store if a logout token names it.
  ///
  /// If another process has signed a user in, the new sign-in replaces the session in memory, and
  /// ends too if the token names it.
  ///
  /// - Returns: Whether the token names the session.
  func end(ifNamedBy token: LogoutToken) async throws(SQOAuthError) -> Bool {
    var isNamed = false
    while true {
      do throws(SQOAuthError) {
        try await session.conditionallyEnd(.loggedOut) { record in
          let names = token.names(record)
          isNamed = isNamed || names
          return names
        }
        return isNamed
      } catch {
        guard error.code == .sessionReplaced else { throw error }
      }
    }
  }
}

/// The result of ``SequencingOAuth/AccountOperations/handleLogoutToken(_:)``.
public struct LogoutTokenOutcome: Sendable {
  /// The validated token.
  public let token: LogoutToken
  /// Whether the token named this account's session, so that the session has ended.
  public let endedSession: Bool
}

extension AccountManager {
  /// Ends every session in the store that a provider's logout token names.
  ///
  /// The app's server receives the token as the parameter `logout_token` of a POST. Answer with
  /// status 200 if this call returns, and with 400 if it throws. Each named session of the
  /// configuration's client is removed from memory and the store, and its delegate gets
  /// `SessionEnd.loggedOut`. Other processes that share the store find that the account is gone: at
  /// once if the store reports changes, as a PostgreSQL database does, or at their next refresh. If
  /// another process has signed another user in to a named account, that sign-in stays, and the
  /// account's module continues with it.
  ///
  /// An account's session is the `sid` of its newest ID token that has one. If none had one, the
  /// account ends with each session of its user, unless the logout token names no user.
  ///
  /// The token counts as used when all named sessions have ended. If the store fails, the call ends
  /// as many sessions as it can, and the provider may send the token again. With an app's
  /// `OneTimeValues` that cannot look a value up, the token counts as used before the sessions end,
  /// so it is rejected if the provider sends it again. A database finds the user's records by an
  /// index; with other stores the call reads all records, page by page. The call skips damaged
  /// records, because no process can use their tokens.
  ///
  /// - Returns: The identifiers of the accounts whose sessions ended.
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.logoutTokenInvalid` if the token breaks a rule or
  ///   was used before; the error of the request for the issuer's keys; the store's error;
  ///   `SQOAuthError.Code.wrongPassphrase` if the token names no readable record and this host
  ///   lacks the key of some records.
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8
  @discardableResult
  public func handleLogoutToken(
    _ text: String, for configuration: ClientConfiguration
  ) async throws(SQOAuthError) -> [String] {
    try await module(for: configuration).handling(text) { [self] token throws(SQOAuthError) in
      let named = try await accounts(namedBy: token)
      var ended: [String] = []
      var failure: SQOAuthError?
      for id in named {
        do throws(SQOAuthError) {
          let module = self.module(id: id) ?? module(for: configuration, id: id)
          // An earlier call may have ended the session in memory and then failed in the store.
          if try await module.end(ifNamedBy: token) || module.session.record == nil {
            ended.append(id)
          }
        } catch {
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
      return ended
    }
  }

  /// Returns the sorted identifiers of the accounts that a logout token names, in the store or in
  /// memory.
  private func accounts(namedBy token: LogoutToken) async throws(SQOAuthError) -> [String] {
    var ids = Set(
      all.filter { $0.session.record.map(token.names) ?? false }.map { ExactText($0.accountID) })
    var unreadable: SQOAuthError?
    func look(at account: AccountEntry) {
      switch account.record {
      case .success(let record) where token.names(record): ids.insert(ExactText(record.id))
      case .success: break
      // A damaged record is skipped, because no host can use its tokens.
      case .failure(let error): if error.code != .storeDamaged { unreadable = error }
      }
    }
    if let index = store as? any SessionIndex {
      for account in try await index.entries(of: token.sessionName) { look(at: account) }
    } else {
      try await store.forEachEntry { look(at: $0) }
    }
    // The unreadable record may be the record of the account that the token names.
    if ids.isEmpty, let unreadable { throw unreadable }
    return ids.sorted().map(\.text)
  }
}

/// A mark that a logout token was used, in the list of one-time values.
private struct LogoutTokenMark: Sendable {
  private let token: LogoutToken
  private let values: any OneTimeValues
  private let end: Date
  private let clock: any WallClock

  init(_ token: LogoutToken, _ client: RegisteredClient) {
    self.token = token
    values = client.environment.sharedOneTimeValues
    end = token.expirationDate
      .addingTimeInterval(client.configuration.clockTolerance.seconds)
    clock = client.environment.clock
  }

  private static let purpose = "logout token"
  private var name: String { "\(token.issuer)\n\(token.identifier)" }

  /// Returns whether the token was used before; `nil` if only ``leave()`` can find out.
  func wasUsed() async throws(SQOAuthError) -> Bool? {
    try await values.wasUsed(name, as: Self.purpose)
  }

  /// Marks the token as used; returns `false` if it was used before.
  func leave() async throws(SQOAuthError) -> Bool {
    try await values.use(name, as: Self.purpose, until: end, at: clock.now)
  }
}
