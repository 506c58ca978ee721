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

  /// Returns the command that signs an account in again, or `nil` if the account's server is not
  /// known.
  func signInCommand(_ record: AccountRecord) -> String? {
    KeptClient(record).server == nil ? nil : store.signInCommand(record.id)
  }
}

extension Failure {
  /// Returns the failure with the command that signs the account in again in its hint.
  ///
  /// Other hints stay unchanged.
  func naming(_ command: String?) -> Failure {
    guard let command, let hint, [Self.signInAgain, Self.signInForMore].contains(hint) else {
      return self
    }
    return withHint(hint.replacing("'sq-demo login'", with: "'\(command)'"))
  }
}
