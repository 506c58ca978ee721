import SQBasics
import SequencingOAuth

extension Option {
  static let everywhere = Option(
    "--everywhere",
    help: "Log out at the provider too: its tokens end, and your browser opens to end your session "
      + "there.")
}

/// The command `logout`: erases an account from the store.
struct Logout: Command {
  static let name = "logout"
  static let summary = "Forget an account on this machine."
  static let details = """
    The command erases the account from the store and forgets how it was signed in, so the
    next login needs the provider's options again. The server is not informed, and
    other programs stay signed in; 'sq-demo revoke' makes the server revoke the tokens, too.

    You can also forget an account after its session has ended; until then 'sq-demo login
    --account ID' signs it in again at its server. If an account's record is damaged, the
    command erases it only if --account names it.

    If there is no such account, the command says so, and the exit status is 0.

    With --everywhere the command also makes the server revoke the tokens, and opens your
    browser at the provider. The provider then logs you out, but may ask you first; the
    command does not wait for that. If no browser opens, it prints the address for you to open.
    The account is forgotten here even if the server cannot revoke the tokens, or the provider
    cannot log users out; the command then says so, and the exit status is 1.

    With --json it prints one object: account, and forgotten, which is false if there was
    no such account. After a logout at the provider it has provider_logout too: "opened" if
    a browser has the provider's page, "shown" if you have its address, "done" with
    --browser sandbox.
    """
  static let options =
    [.json, .everywhere, .account, .browser] + NetworkOptions.options + StoreOptions.options

  private let choice: AccountChoice
  private let store: StoreOptions
  private let printsJSON: Bool
  /// The options for a logout at the provider; `nil` for a logout on this machine only.
  private let everywhere: AccountOptions?

  init(_ arguments: Arguments) throws(Failure) {
    choice = AccountChoice(id: arguments[.account])
    everywhere = arguments.contains(.everywhere) ? try AccountOptions(arguments) : nil
    store = try StoreOptions(arguments)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = printsJSON ? console.reservingOutput : console
    if let everywhere, try await logOut(everywhere, console) { return }
    let opened = try await store.openIfThere(console)
    guard let opened, let id = try await keptID(in: opened) else {
      return try await forgetSignedOut(in: opened, console)
    }
    let oauth = Account.oauth(id, keptIn: opened, console)
    try await Failure.translating { () throws(SQOAuthError) in
      try await oauth.signOut()
      // A database tells other hosts a moment after the erasure.
      try await console.tellingOfLastWait { () throws(SQOAuthError) in
        try await oauth.module.flush()
      }
    }
    try await opened.clients?.forget(id)
    try report(
      id, console,
      id == AccountChoice.defaultID
        ? "Signed out." : "Signed out of the account \"\(id.onScreen)\".")
  }

  /// Returns the name of the account to erase, or `nil` if the store has no suitable account.
  ///
  /// An account that the command line names may also be damaged. Then no other command can use it.
  private func keptID(in store: OpenStore) async throws(Failure) -> String? {
    do throws(Failure) {
      return try await choice.record(in: store)?.id
    } catch {
      guard let id = choice.id, error.code == SQOAuthError.Code.storeDamaged.rawValue else {
        throw error
      }
      return id
    }
  }

  /// Logs the user out at the provider and on this machine, and returns `false` if the account does
  /// not exist.
  private func logOut(
    _ options: AccountOptions, _ console: Console
  ) async throws(Failure) -> Bool {
    try await options.withKeptAccount(
      console, leaves: true,
      signedOut: { record throws(Failure) in try reportSignedOut(record, console) }
    ) { account throws(Failure) in
      guard let signIn = account.signIn else { throw Self.hasNoProvider }
      let reach: LogoutReach
      do throws(Failure) {
        reach = try await signIn.logOut()
      } catch {
        let failure = await explained(error, of: account)
        // Even if forgetting the client fails too, report the failure of the logout.
        _ = try? await account.store.clients?.forget(account.id)
        throw failure
      }
      try await account.store.clients?.forget(account.id)
      try report(account.id, at: reach, console, reach.sentence)
    }
  }

  /// Returns the failure of a logout, with a hint if the account was removed from this machine.
  private func explained(_ failure: Failure, of account: Account) async -> Failure {
    do {
      // A signal may have interrupted the logout, and the store reads nothing for a cancelled task.
      let kept = try await uncancelled { try await account.store.store.load(account.id) }
      guard kept == nil else { return failure }
      return failure.withHint("The account is forgotten on this machine nevertheless.")
    } catch {
      return failure
    }
  }

  /// Removes the record of an account with an ended session.
  private func forgetSignedOut(in store: OpenStore?, _ console: Console) async throws(Failure) {
    guard let record = try await choice.remembered(in: store) else {
      return try report(choice.id, hasForgotten: false, console, choice.nobodyText)
    }
    try await store?.clients?.forget(record.id)
    try reportSignedOut(record, console)
  }

  private func reportSignedOut(_ record: AccountRecord, _ console: Console) throws(Failure) {
    try report(
      record.id, console,
      "The account \"\(record.id.onScreen)\" was signed out before; now it is forgotten.")
  }

  private static let hasNoProvider = Failure(
    "not_registered", "the account's provider is not known, so you cannot log out there",
    status: .notAuthorized
  ).withHint("Without --everywhere, the account is forgotten on this machine only.")

  private func report(
    _ id: String?, hasForgotten: Bool = true, at reach: LogoutReach? = nil, _ console: Console,
    _ sentence: String
  ) throws(Failure) {
    try console.result(
      printsJSON
        ? try oneLineOfJSON(
          EndReport(account: id, forgotten: hasForgotten, providerLogout: reach)) : sentence)
  }
}
