import SequencingOAuth

/// Which account a command works with: one that is kept, or that of a new sign-in.
struct AccountOptions: Sendable {
  static let options = [Option.account] + SignInOptions.options + StoreOptions.options
  /// The options of a command that can do its work at the sandbox inside the program too.
  static let optionsOrSandbox = options + [.sandbox]

  typealias Work = (Account) async throws(Failure) -> Void

  let signIn: SignInOptions
  /// How long the built-in sandbox's tokens live.
  var tokenLifetime: Duration = .seconds(3600)
  /// Whether the user signs in when a token is needed, and not before the work is begun.
  var signsInWhenNeeded = false
  /// Whether the command can go on with an account whose session has ended, by a new sign-in.
  var resumesSignedOut = false
  /// Whether the command can do its work at the sandbox inside the program.
  var canUseSandbox = true
  /// Hears what becomes of the token, from its first moment on.
  var delegate: (any TokenRefreshDelegate & Sendable)?
  var choice: AccountChoice
  let store: StoreOptions

  /// Checks the options; `areForNew` says that only an account that is named is of interest.
  init(_ arguments: Arguments, areForNew: Bool = false) throws(Failure) {
    let id = arguments[.account]
    signIn = try SignInOptions(arguments, orAccount: !areForNew || id != nil)
    store = try StoreOptions(arguments)
    if signIn.usesSandbox, store.last {
      throw .usage("--sandbox is a server for this run only; leave --store out")
    }
    choice = AccountChoice(id: id) { [signIn] in signIn.fit($0) }
  }

  /// Works with the account that is kept; when there is none, signs in at the provider that the
  /// options name, or at the sandbox inside the program when they ask for it, and fails otherwise.
  ///
  /// An account whose session has ended is not signed in by the way: that is for 'login'.
  func withAccount(_ console: Console, _ work: Work) async throws(Failure) {
    guard !signIn.usesSandbox else { return try await self.signIn(signIn, nil, console, work) }
    let (opened, isDone) = try await tryKept(console, work)
    guard !isDone else { return }
    if signIn.server == nil {
      if let record = try await choice.remembered(in: opened) {
        guard resumesSignedOut else { throw signedOut(record) }
        return try await resume(record, opened, console, work)
      }
      let failure = try await choice.isMissing(in: opened)
      throw canUseSandbox && choice.id == nil ? failure.offeringSandbox : failure
    }
    try await self.signIn(signIn, opened, console, work)
  }

  /// Works with the account that is kept; returns `false` where there is none.
  ///
  /// `mayBeSignedOut` says that an account whose session has ended is none; else it is a failure.
  func withKeptAccount(
    _ console: Console, mayBeSignedOut: Bool = false, _ work: Work
  ) async throws(Failure) -> Bool {
    let (opened, isDone) = try await tryKept(console, work)
    guard !isDone, let record = try await choice.remembered(in: opened) else { return isDone }
    guard mayBeSignedOut else { throw signedOut(record) }
    try await opened?.clients?.forget(record.id)
    return false
  }

  /// Signs in and works with that account, whether or not there is one.
  ///
  /// An account that is named is signed in where it was before, unless the options say otherwise.
  func withNewAccount(_ console: Console, _ work: Work) async throws(Failure) {
    guard choice.id != nil, signIn.server == nil, let opened = try await store.openIfThere(console)
    else { return try await self.signIn(signIn, nil, console, work) }
    let kept = try await choice.record(in: opened)
    let record = if let kept { kept } else { try await choice.remembered(in: opened) }
    let options = try record.map { record throws(Failure) in try signIn.completed(by: record) }
    try await self.signIn(options ?? signIn, opened, console, work)
  }
}

extension AccountOptions {
  private func tryKept(
    _ console: Console, _ work: Work
  ) async throws(Failure) -> (OpenStore?, isDone: Bool) {
    guard let opened = try await store.openIfThere(console) else { return (nil, false) }
    guard let record = try await choice.record(in: opened) else { return (opened, false) }
    let options = try signIn.completed(by: record)
    let oauth = oauth(record.id, keptIn: opened)
    if let configuration = options.configuration { oauth.register(configuration) }
    do throws(SQOAuthError) {
      try await oauth.module.restore()
    } catch {
      throw Failure(error).isOfAnotherClient(error)
    }
    let server = options.server?.address ?? record.issuer
    let signIn = options.configuration.map {
      CommandLineSignIn(oauth, options, at: $0.provider.name, console)
    }
    if signsInWhenNeeded { signIn?.whenNeeded() }
    do throws(Failure) {
      try await oauth.settling(console) { () throws(Failure) in
        try await work(
          Account(
            oauth: oauth, server: server, place: options.configuration?.provider.name,
            signInCommand: self.store.signInCommand(record.id),
            hasListedResources: !options.resources.isEmpty, store: opened, signIn: signIn))
      }
    } catch {
      guard !oauth.module.hasAccessToken else { throw error.naming(signInCommand(record)) }
      // The program that signed the account out has also forgotten how it was signed in.
      guard error.code == SQOAuthError.Code.invalidGrant.rawValue else { throw error }
      await remember(record.id, record.clientID, KeptClient(record), in: opened, console)
      throw error.naming(signInCommand(record))
    }
    return (opened, true)
  }

  func oauth(_ id: String, keptIn store: OpenStore) -> SQOAuth {
    let oauth = Account.oauth(id, keptIn: store)
    oauth.tokenRefreshDelegate = delegate
    return oauth
  }
}

extension Failure {
  /// This failure with a hint that names the sandbox too.
  fileprivate var offeringSandbox: Failure {
    withHint(
      [
        hint,
        "With --sandbox the command works at a sandbox inside the program, for this run only.",
      ]
      .compactMap(\.self).joined(separator: "\n"))
  }

  /// The same with what helps where the account is not of the client that was named.
  fileprivate func isOfAnotherClient(_ error: SQOAuthError) -> Failure {
    guard error.code == .invalidConfiguration else { return self }
    return withHint("Name another --account: its own one, or a new one to sign in there.")
  }
}
