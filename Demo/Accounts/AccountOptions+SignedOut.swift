import SQBasics
import SequencingOAuth

// Accounts with ended sessions: how they were signed in, and their error messages.
extension AccountOptions {
  /// Stores how an account was signed in.
  ///
  /// If that fails, the command warns and continues.
  func remember(
    _ id: String, _ clientID: String, _ client: KeptClient, in store: OpenStore, _ console: Console
  ) async {
    do throws(Failure) {
      try await store.clients?.remember(id, clientID, client)
    } catch {
      console.warn(
        "the client of the account could not be stored, so a later sign-in needs the provider's "
          + "options again: \(error.message)")
    }
  }

  /// Returns the failure for an account with an ended session.
  func signedOut(_ record: AccountRecord) -> Failure {
    Failure(
      SQOAuthError.Code.notAuthorized.rawValue,
      "the account \"\(record.id.onScreen)\" is no longer signed in", status: .notAuthorized
    ).withHint(Failure.signInAgain).naming(signInCommand(record))
  }

  /// Returns the command that signs an account in again with more scopes.
  ///
  /// If this program has registered the account's client itself, the command names the issuer, so
  /// that the sign-in adds the scopes to the registration too.
  func widerSignInCommand(
    _ id: String, _ clientID: String, at issuer: String?, in opened: OpenStore
  ) async -> String {
    let command = store.signInCommand(id)
    guard let issuer, await opened.ownRegistration(clientID, at: issuer) != nil else {
      return command
    }
    return "\(command) \(Option.issuer.name) \(ShellWords.quote(issuer.onScreen))"
  }

  func widerSignInCommand(_ record: AccountRecord, in opened: OpenStore) async -> String {
    await widerSignInCommand(record.id, record.clientID, at: record.issuer, in: opened)
  }

  /// Returns the advice if a server no longer knows a client that this program registered there;
  /// `nil` for any other failure.
  func forgottenHint(
    _ failure: Failure, _ record: AccountRecord, in opened: OpenStore
  ) async -> String? {
    guard failure.code == SQOAuthError.Code.invalidClient.rawValue, let issuer = record.issuer,
      await opened.ownRegistration(record.clientID, at: issuer) != nil
    else { return nil }
    return "The server no longer knows this program. '\(store.signInCommand(record.id)) --issuer "
      + "\(ShellWords.quote(issuer.onScreen))' registers it anew and signs you in."
  }

  /// Returns the command that signs an account in again, or `nil` if the account's server is not
  /// known.
  func signInCommand(_ record: AccountRecord) -> String? {
    KeptClient(record).server == nil ? nil : store.signInCommand(record.id)
  }
}

extension Failure {
  /// Returns the failure with a hint that names the command for a new sign-in: `command` or, if
  /// scopes are missing, `forMore`.
  ///
  /// Other hints stay unchanged.
  func naming(_ command: String?, forMore: String? = nil) -> Failure {
    guard let command, let hint, [Self.signInAgain, Self.signInForMore].contains(hint) else {
      return self
    }
    let words = hint == Self.signInForMore ? forMore ?? command : command
    return withHint(hint.replacing("'sq-demo login'", with: "'\(words)'"))
  }

  /// Returns the failure with a hint that names the account's resources, if the account's token
  /// must not go to the server.
  ///
  /// Other failures stay unchanged.
  func naming(resourceOf record: AccountRecord) -> Failure {
    let resources = KeptClient(record).identifiers.map(\.onScreen).joined(separator: " ")
    guard code == SQOAuthError.Code.originNotAllowed.rawValue, !resources.isEmpty else {
      return self
    }
    return withHint(
      "The account \"\(record.id.onScreen)\" is for \(resources) only. Name another \(Option.account.name), "
        + "or leave it out, so that the command finds the server of this address.")
  }
}
