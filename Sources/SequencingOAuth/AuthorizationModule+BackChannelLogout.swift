import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Logouts that the provider reports to a server of the app.

extension AuthorizationModule {
  /// Ends the session if a provider's logout token names it.
  ///
  /// A server of the app gets the token as the parameter `logout_token` of a POST, and answers with
  /// status 200 when this call has returned, or with 400 when it has thrown. If the token names
  /// this account's session, the tokens leave memory and the store, and the delegate gets
  /// ``SessionEnd/loggedOut``. A server with many accounts calls
  /// ``AccountManager/handleLogoutToken(_:for:)`` instead.
  ///
  /// - Returns: The validated token, and whether it named this session.
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/logoutTokenInvalid`` if the token breaks a
  ///   rule or was used before; the reason why the issuer's keys could not be fetched; the store's
  ///   error.
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8
  @discardableResult
  public func handleLogoutToken(
    _ text: String
  ) async throws(SQOAuthError) -> (token: LogoutToken, endedSession: Bool) {
    let token = try await logoutToken(text)
    return (token, try await end(ifNamedBy: token))
  }

  /// Validates a logout token, which counts once.
  func logoutToken(_ text: String) async throws(SQOAuthError) -> LogoutToken {
    let client = try await context.client()
    let configuration = client.configuration
    let signatures = try IssuerSignatures(configuration, client.metadata, client.environment)
    let claims = try await signatures.claims(of: text, as: .logoutToken)
    let now = client.environment.clock.now
    let token = try LogoutToken(
      claims, issuer: signatures.issuer, clientID: configuration.clientID,
      clockTolerance: configuration.clockTolerance, now: now)
    let isFirst = try await client.environment.sharedOneTimeValues.use(
      "\(token.issuer)\n\(token.identifier)", as: "logout token",
      until: token.expirationDate.addingTimeInterval(configuration.clockTolerance.seconds), at: now)
    guard isFirst else {
      throw SQOAuthError(
        .logoutTokenInvalid, "the logout token was used before; no session ended")
    }
    return token
  }

  /// Ends the session in memory and in the store if a logout token names it.
  ///
  /// - Returns: Whether it did.
  func end(ifNamedBy token: LogoutToken) async throws(SQOAuthError) -> Bool {
    var isNamed = false
    do throws(SQOAuthError) {
      try await session.end(.loggedOut) { record throws(SQOAuthError) in
        isNamed = record.token.idToken.map(token.names) ?? false
        guard isNamed else { throw .isNotNamed }
      }
    } catch {
      if isNamed { throw error }
      switch error.code {
      case .isNotNamed: break
      default: throw error
      }
    }
    return isNamed
  }
}

extension AccountManager {
  /// Ends the sessions that a provider's logout token names, of all accounts in the store.
  ///
  /// A server gets the token as the parameter `logout_token` of a POST, and answers with status 200
  /// when this call has returned, or with 400 when it has thrown. Each named session leaves memory
  /// and the store, and its delegate gets ``SessionEnd/loggedOut``. Other processes that share the
  /// store find at their next refresh that the account is gone.
  ///
  /// - Returns: The identifiers of the accounts whose sessions ended.
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/logoutTokenInvalid`` if the token breaks a
  ///   rule or was used before; the reason why the issuer's keys could not be fetched; the store's
  ///   error.
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8
  @discardableResult
  public func handleLogoutToken(
    _ text: String, for configuration: ClientConfiguration
  ) async throws(SQOAuthError) -> [String] {
    let token = try await module(for: configuration).logoutToken(text)
    var ids = Set(all.map(\.accountID))
    for record in try await accounts(clientID: configuration.clientID)
    where record.withKeptIdentity().token.idToken.map(token.names) ?? false {
      ids.insert(record.id)
    }
    var ended: [String] = []
    for id in ids.sorted() {
      let module = self.module(id: id) ?? module(for: configuration, id: id)
      if try await module.end(ifNamedBy: token) { ended.append(id) }
    }
    return ended
  }
}

extension SQOAuthError {
  fileprivate static let isNotNamed = SQOAuthError(.isNotNamed, "the session is not named")
}

extension SQOAuthError.Code {
  fileprivate static let isNotNamed = Self(rawValue: "session_not_named")
}
