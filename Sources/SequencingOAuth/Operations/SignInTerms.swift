import SQBasics

/// What a sign-in asks of the user and of the server, as its options and the account say.
///
/// The account is the one at the start of the sign-in: a session may end while the user is at the
/// provider.
struct SignInTerms: Sendable {
  /// The options of the sign-in; a silent one names the account's user.
  let options: SignInOptions
  /// The user who must sign in; `nil` for any user.
  private let user: SignInUser?

  /// Combines the options of a sign-in with the account's record in memory or, without one, with
  /// the record in the store.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the options have scopes of an account
  ///   that belongs to another client or server; ``SQOAuthError/Code/idTokenSubject`` if no user
  ///   can meet the demands.
  init(
    of options: SignInOptions, after held: AccountRecord?, orStored stored: AccountRecord?,
    by client: RegisteredClient
  ) throws(SQOAuthError) {
    if let origin = options.scopeOrigin, !origin.isOf(client) {
      throw SQOAuthError(
        .invalidConfiguration,
        "another client or server was registered while the sign-in for more permissions waited, so "
          + "it was not begun; sign in again to replace the account")
    }
    // A stored record of another server is not this account's, and its user is unknown here.
    let record = held ?? stored.flatMap { $0.issuer == client.metadata.issuer ? $0 : nil }
    let idToken = record?.token.idToken
    var options = options
    if options.isSilent, options.idTokenHint == nil, record?.origin.isOf(client) == true {
      options.idTokenHint = idToken?.compactForm
      // A server that ignores the hint may sign in another user, and no page would show it.
      options.requiresSameUser = true
    }
    user = try Self.user(options, idToken.map(SignInUser.init))
    self.options = options
  }

  /// Returns the user who must sign in to an account of the user `own`.
  private static func user(
    _ options: SignInOptions, _ own: SignInUser?
  ) throws(SQOAuthError) -> SignInUser? {
    guard options.requiresSameUser, let own else { return options.requiredUser }
    // Nobody can be both users, so no page is shown.
    guard options.requiredUser ?? own == own else {
      throw SQOAuthError(
        .idTokenSubject,
        "another user has signed in to the account since, so the user of the refused request was "
          + "not asked to sign in")
    }
    return own
  }

  /// Throws if another user than the required one has signed in.
  func check(_ token: SQToken) throws(SQOAuthError) {
    guard let user, let idToken = token.idToken, SignInUser(idToken) != user else { return }
    throw SQOAuthError(
      .idTokenSubject,
      "another user signed in, not the user of the account; the account was not changed: sign in "
        + "as the same user, or use another account")
  }
}
