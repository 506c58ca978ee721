import SequencingOAuth

// What is kept of an account whose session ends, and what is said of it.
extension AccountOptions {
  /// Keeps how an account was signed in; what goes wrong with it is no failure of the command.
  func remember(
    _ id: String, _ clientID: String, _ client: KeptClient, in store: OpenStore, _ console: Console
  ) async {
    do throws(Failure) {
      try await store.clients?.remember(id, clientID, client)
    } catch {
      console.warn(
        "how the account was signed in cannot be kept, so a later sign-in needs the provider's "
          + "options again: \(error.message)")
    }
  }

  /// The failure where an account's session has ended.
  func signedOut(_ record: AccountRecord) -> Failure {
    Failure(
      SQOAuthError.Code.notAuthorized.rawValue,
      "the account \"\(record.id.printable)\" is not signed in any more", status: .notAuthorized
    ).withHint(Failure.signInAgain).naming(signInCommand(record))
  }

  /// What signs an account in again; `nil` where the account does not tell its server.
  func signInCommand(_ record: AccountRecord) -> String? {
    KeptClient(record).server == nil ? nil : store.signInCommand(record.id)
  }
}

extension Failure {
  /// This failure with a hint that names the account in the command that signs it in again.
  func naming(_ command: String?) -> Failure {
    guard let command, let hint, [Self.signInAgain, Self.signInForMore].contains(hint) else {
      return self
    }
    return withHint(hint.replacing("'sq-demo login'", with: "'\(command)'"))
  }
}
