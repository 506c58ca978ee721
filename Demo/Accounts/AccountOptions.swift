import SQBasics
import SequencingOAuth

/// The options that select a command's account: a stored account, or a new one from a sign-in.
struct AccountOptions: Sendable {
  static let options =
    [Option.account] + SignInArguments.options + NetworkOptions.options + StoreOptions.options
  /// The options of a command that can also use the built-in sandbox.
  static let optionsOrSandbox = options + [.sandbox]

  typealias Work = (Account) async throws(Failure) -> Void

  private(set) var signIn: SignInArguments
  /// The lifetime of the built-in sandbox's tokens.
  var tokenLifetime: Duration = .seconds(3600)
  /// Whether the user signs in when a token is needed, instead of before the work starts.
  var signsInWhenNeeded = false
  /// Whether the command signs in again if its account's session has ended.
  var resumesSignedOut = false
  /// Whether a sign-in without a scope requests the user's identity.
  private(set) var asksWho = false
  var choice: AccountChoice
  let store: StoreOptions
  /// The store if it is already open; opening may ask for a passphrase, so it happens only once.
  var opened: OpenStore?

  /// Checks the options.
  ///
  /// With `areForNew`, the command signs in a new account, and uses a stored account only if
  /// `--account` names it. With `findServer`, the command finds the server if there is no account.
  init(
    _ arguments: Arguments, areForNew: Bool = false, findServer: Bool = false
  ) throws(Failure) {
    let id = arguments[.account]
    asksWho = areForNew
    signIn = try SignInArguments(
      arguments, orAccount: !areForNew || id != nil, findsServer: findServer)
    store = try StoreOptions(arguments)
    if signIn.usesSandbox, store.last {
      throw .usage("--sandbox is a server for this run only; leave --store out")
    }
    choice = AccountChoice(id: id) { [signIn] in signIn.fit($0) }
  }

  /// Runs `work` with the account in the store.
  ///
  /// If the store has no account, the user signs in at the provider that the options name, or at
  /// the built-in sandbox if the options ask for it; without either, the command fails. If the
  /// account's session has ended, the command fails unless ``resumesSignedOut`` is set: signing in
  /// again is the task of the command `login`.
  func withAccount(_ console: Console, _ work: Work) async throws(Failure) {
    guard !signIn.usesSandbox else { return try await self.signIn(signIn, nil, console, work) }
    let (opened, isDone) = try await tryKept(console, for: .use, work)
    guard !isDone else { return }
    if signIn.server == nil {
      if let record = try await choice.remembered(in: opened) {
        guard resumesSignedOut else { throw signedOut(record) }
        return try await resume(record, opened, console, work)
      }
      let failure = try await choice.isMissing(in: opened)
      throw choice.id == nil ? failure.offeringSandbox : failure
    }
    try await self.signIn(signIn, opened, console, work)
  }

  /// Runs `work` with the account in the store, and returns `false` if the store has no account.
  ///
  /// If the account's session has ended, this method removes the account and passes the removed
  /// record to `signedOut`, or fails if `signedOut` is `nil`. If `leaves` is `true`, `work` removes
  /// the account whatever the server answers, so `work` runs even if the client's key stays locked.
  func withKeptAccount(
    _ console: Console, leaves: Bool = false,
    signedOut: ((AccountRecord) throws(Failure) -> Void)? = nil, _ work: Work
  ) async throws(Failure) -> Bool {
    let (opened, isDone) = try await tryKept(console, for: leaves ? .logout : .revocation, work)
    guard !isDone, let record = try await choice.remembered(in: opened) else { return isDone }
    try checkWasNamed(record)
    guard let signedOut else { throw self.signedOut(record) }
    try await opened?.clients?.forget(record.id)
    try signedOut(record)
    return true
  }

  /// Signs in and runs `work` with the new account, even if the store already contains an account
  /// of that name.
  ///
  /// An account that `--account` names is signed in at its previous server, unless the options name
  /// another server.
  func withNewAccount(_ console: Console, _ work: Work) async throws(Failure) {
    guard !signIn.usesSandbox, choice.id != nil || store.areGiven && signIn.server == nil,
      let opened = try await store.openIfThere(console)
    else { return try await self.signIn(signIn, nil, console, work) }
    guard signIn.server == nil else {
      return try await self.signIn(try await forSameResource(in: opened), opened, console, work)
    }
    guard let record = try await lastingAccount(in: opened) else {
      return try await self.signIn(signIn, opened, console, work)
    }
    guard choice.id != nil else { throw wouldReplace(record) }
    let options = try await knowingSecret(of: record, in: opened).completed(by: record)
    try await self.signIn(options, opened, console, work)
  }
}

extension AccountOptions {
  /// Returns the options of the sign-in, with missing values taken from an account's record.
  func completed(by record: AccountRecord) throws(Failure) -> SignInArguments {
    do throws(Failure) {
      return try signIn.completed(by: record)
    } catch {
      throw error.namingNewKey(store.signInCommand(record.id))
    }
  }

  /// Returns these options with the secret of an account's client, if the program has registered
  /// the client and can look the secret up.
  private func knowingSecret(of record: AccountRecord, in opened: OpenStore) async -> AccountOptions
  {
    guard signIn.secret == nil, KeptClient(record).needsSecret,
      let registration = await opened.ownRegistration(record.clientID, at: record.issuer),
      let secret = registration.clientSecret
    else { return self }
    var options = self
    options.signIn = signIn.with(secret: secret)
    return options
  }

  /// Returns the sign-in's options, with the resource of the account that the sign-in replaces if
  /// both have the same server.
  private func forSameResource(in opened: OpenStore) async throws(Failure) -> SignInArguments {
    guard let record = try await lastingAccount(in: opened),
      KeptClient(record).server == signIn.server
    else { return signIn }
    return try signIn.forResource(of: KeptClient(record))
  }

  /// Returns these options with the passphrase of the key that they name.
  func unlocked(_ console: Console) async throws(Failure) -> AccountOptions {
    var options = self
    options.signIn = try await signIn.unlocked(console)
    return options
  }

  /// What a command does with an account in the store.
  private enum Purpose { case use, revocation, logout }

  private func tryKept(
    _ console: Console, for purpose: Purpose, _ work: Work
  ) async throws(Failure) -> (OpenStore?, isDone: Bool) {
    let opened = if let opened { opened } else { try await store.openIfThere(console) }
    guard let opened else { return (nil, false) }
    guard let record = try await choice.record(in: opened) else { return (opened, false) }
    try checkIsNamed(record)
    if purpose == .use { try checkBinds(record) }
    let options = try await unlocked(record, for: purpose, console)
    let oauth = Account.oauth(record.id, keptIn: opened, console)
    let events = oauth.events()
    if let configuration = options.configuration { oauth.register(configuration) }
    do throws(SQOAuthError) {
      try await oauth.module.restore()
    } catch {
      throw Failure(error).ofAnotherClient
    }
    let server = options.server?.address ?? record.issuer
    let signIn = options.configuration.map {
      CommandLineSignIn(oauth, options, at: $0.provider.name, console)
    }
    if signsInWhenNeeded { signIn?.whenNeeded() }
    do throws(Failure) {
      try await oauth.flushing(console) { () throws(Failure) in
        try await work(
          Account(
            oauth: oauth, events: events, server: server,
            place: options.configuration?.provider.name,
            signInCommand: self.store.signInCommand(record.id),
            widerSignInCommand: await widerSignInCommand(record, in: opened),
            hasListedResources: !options.resources.isEmpty, store: opened, signIn: signIn))
      }
    } catch {
      if let hint = await forgottenHint(error, record, in: opened) { throw error.withHint(hint) }
      guard !oauth.module.hasAccessToken else {
        throw error.naming(resourceOf: record)
          .naming(
            signInCommand(record), forMore: await widerSignInCommand(record, in: opened))
      }
      // Another program has ended the session and removed the account. Store how the account was
      // signed in, so that its user can sign in again.
      guard error.code == SQOAuthError.Code.invalidGrant.rawValue else { throw error }
      await remember(record.id, record.clientID, KeptClient(record), in: opened, console)
      throw error.naming(signInCommand(record))
    }
    return (opened, true)
  }

  /// Returns the options for an account's client, with the client's key unlocked.
  ///
  /// For a logout, the key may stay locked.
  private func unlocked(
    _ record: AccountRecord, for purpose: Purpose, _ console: Console
  ) async throws(Failure) -> SignInArguments {
    let options = try signIn.completed(
      by: record, signInCommand: store.signInCommand(record.id), ends: purpose != .use)
    do throws(Failure) {
      return try await options.unlocked(console)
    } catch {
      guard purpose == .logout, error.status != .cancelled else { throw error }
      return try options.leavingKeyLocked(because: error)
    }
  }
}

extension Failure {
  /// This failure with a hint that also offers the sandbox.
  fileprivate var offeringSandbox: Failure {
    withHint(
      [
        hint,
        "With --sandbox the command uses a sandbox inside the program, for this run only.",
      ]
      .compactMap(\.self).joined(separator: "\n"))
  }
}
