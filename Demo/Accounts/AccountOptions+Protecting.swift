import SequencingOAuth

// Checks that protect accounts: whether a command with these options may use or replace an account.
extension AccountOptions {
  /// Fails if an account belongs to another client or server than the options name.
  ///
  /// Without this check, a command could print the token of one server as the token of another, and
  /// a script would send it there.
  func checkIsNamed(_ record: AccountRecord) throws(Failure) {
    guard !signIn.mayUse(record) else { return }
    throw Self.isOfAnother(record)
  }

  /// Fails if an account belongs to another client or server than the options have configured.
  func check(_ record: AccountRecord, isOf configuration: ClientConfiguration) throws(Failure) {
    guard !record.isOf(configuration) else { return }
    throw Self.isOfAnother(record)
  }

  /// Fails if a signed-out account belonged to another client or server than the options name.
  ///
  /// The program itself remembers signed-out accounts, with all that the options can name.
  func checkWasNamed(_ record: AccountRecord) throws(Failure) {
    guard !signIn.fit(record) else { return }
    throw Self.isOfAnother(record)
  }

  private static func isOfAnother(_ record: AccountRecord) -> Failure {
    Failure(
      SQOAuthError(
        .invalidConfiguration,
        "the account \"\(record.id.onScreen)\" belongs to another client or server than the options "
          + "name")
    ).ofAnotherClient
  }

  /// Fails if the options ask for bound tokens, but the account's tokens are not bound.
  ///
  /// Only a sign-in binds tokens: without this check, a command would send a token that a thief can
  /// use, although the user has asked for bound tokens.
  ///
  /// - SeeAlso: FAPI 2.0 Security Profile, section 5.3.3.1
  func checkBinds(_ record: AccountRecord) throws(Failure) {
    guard signIn.protections.bindsTokens, !record.token.isBound else { return }
    let option =
      signIn.protections.usesDPoP
      ? Option.dpop.name : "\(Option.profile.name) \(signIn.protections.profile.optionName ?? "")"
    throw Failure(
      SQOAuthError.Code.tokenNotBound.rawValue,
      "the account \"\(record.id.onScreen)\" has tokens that are not bound to a key, and only a new "
        + "sign-in binds them",
      status: .wrongUsage
    ).withHint(
      "Sign in again with '\(store.signInCommand(record.id)) \(option)', or leave \(option) out to use "
        + "the tokens as they are.")
  }

  /// Returns the account that a sign-in would replace, even if the account is signed out.
  ///
  /// Returns `nil` if there is no such account, or if its server was a built-in sandbox, because
  /// that sandbox has ended.
  func lastingAccount(in opened: OpenStore) async throws(Failure) -> AccountRecord? {
    let id = choice.newID
    let kept = try await opened.attempt { try await $0.load(id) }
    let record = if let kept { kept } else { try await opened.clients?.record(id) }
    guard let record, !KeptClient(record).isOfBuiltInSandbox else { return nil }
    return record
  }

  /// Returns the failure for a sign-in at the built-in sandbox that would replace another account.
  func wouldReplace(_ record: AccountRecord) -> Failure {
    let server = KeptClient(record).server?.address ?? record.issuer ?? "another server"
    return Failure(
      "account_exists",
      "without a provider you would sign in at the built-in sandbox, and replace the account "
        + "\"\(record.id.onScreen)\" of \(server.onScreen)",
      status: .wrongUsage
    ).withHint(
      "Sign in again at that server with '\(store.signInCommand(record.id))', or choose another name for "
        + "the sandbox's account: --account NAME.")
  }
}

extension Failure {
  /// This failure, with a hint if an account belongs to another client or server than the options
  /// name.
  var ofAnotherClient: Failure {
    guard code == SQOAuthError.Code.invalidConfiguration.rawValue else { return self }
    return withHint(
      "With --account, name an account of this client at this server, or a new account to sign in.")
  }
}
