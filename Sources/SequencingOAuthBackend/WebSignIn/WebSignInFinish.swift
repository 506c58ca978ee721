import SQBasics
import SequencingOAuth

/// The last steps of a web application's sign-in: get the token, then store it in an account.
///
/// The code can be used only once, so the steps continue even if the caller is cancelled.
struct WebSignInFinish: Sendable {
  let manager: AccountManager
  let signIn: WebSignIn
  let configuration: ClientConfiguration
  /// How long to try to save the token in a failing store.
  var retryTime = Duration.seconds(10)

  /// Checks that the store works, and then gets the token.
  ///
  /// If `hasID` is `false`, the app chooses no account id, so the token must say who the user is.
  func token(
    redirect: String, hasID: Bool
  ) async throws(SQOAuthError) -> (SQToken, RegisteredClient) {
    try await uncancelled { () throws(SQOAuthError) -> (SQToken, RegisteredClient) in
      let grant = try await manager.grant(configuration, scope: signIn.request.identity.scope)
      let token = try await grant.finish(signIn, redirect: redirect) { () throws(SQOAuthError) in
        if !hasID { try Self.checkIdentity(signIn.request.identity.scope, grant.client) }
        // The account is not known yet, so this check uses the id of an account that does not
        // exist.
        try await manager.module(for: configuration, id: "web sign-in").checkStore()
      }
      return (token, grant.client)
    }
  }

  /// Stores the token in an account; without an `id`, the ID token determines the account.
  func store(
    _ token: SQToken, from client: RegisteredClient, id: String?
  ) async throws(SQOAuthError) -> AuthorizationModule {
    let id = if let id { id } else { try Self.defaultID(of: token) }
    let account = manager.module(id: id) ?? manager.module(for: configuration, id: id)
    guard account.configuration?.isOfClient(of: configuration) ?? false else {
      throw SQOAuthError(
        .duplicateName,
        "the account \"\(id.printable)\" is in use for another client or server, so the user's "
          + "token was not stored; let the closure id return another id, and repeat the sign-in")
    }
    // The client's secret, for example, may have changed since the module was created.
    if account.configuration != configuration { account.register(configuration) }
    try await uncancelled { () throws(SQOAuthError) in
      try await store(token, from: client, in: account)
    }
    return account
  }

  private func store(
    _ token: SQToken, from client: RegisteredClient, in account: AuthorizationModule
  ) async throws(SQOAuthError) {
    let end = ContinuousClock.now + retryTime
    let waits = { ContinuousClock.now < end }
    // The new record keeps the account's attributes from an earlier sign-in. A damaged record has
    // none, and is replaced.
    while case .failure(let error) = await account.readAttributes(), error.code != .storeDamaged {
      // A record of a later version of the SDK stays.
      guard waits(), error.code != .storeTooNew else {
        manager.tokenRequests.revoke(token, of: client)
        throw error
      }
      try? await Task.sleep(for: .seconds(1))
    }
    do throws(SQOAuthError) {
      try await account.take(token, from: client, since: account.session.appEndCount)
    } catch {
      // The app has ended the session meanwhile, so the token will not be used.
      manager.tokenRequests.revoke(token, of: client)
      throw error
    }
    if let error = await account.session.saveAgain(while: waits) { throw error }
  }

  /// Throws if the response to a request for this scope cannot say who the user is.
  private static func checkIdentity(
    _ scope: String?, _ client: RegisteredClient
  ) throws(SQOAuthError) {
    guard RegisteredClient.asksWho(scope) else { throw noUser }
    _ = try client.idTokenValidator()
  }

  private static let noUser = SQOAuthError(
    .idTokenMissing,
    "no ID token says which user signed in: ask for the scope \"openid\", or give the account an "
      + "id")

  /// Returns the default id of a user's account: `SUBJECT at ISSUER`.
  private static func defaultID(of token: SQToken) throws(SQOAuthError) -> String {
    guard let user = token.idToken else { throw noUser }
    return "\(user.subject) at \(user.issuer)"
  }
}

extension ClientConfiguration {
  /// Returns whether both configurations are for the same client at the same server.
  fileprivate func isOfClient(of other: ClientConfiguration) -> Bool {
    clientID == other.clientID
      && provider.identifier == other.provider.identifier
  }
}
