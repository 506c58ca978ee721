import SequencingOAuth

/// Which account a command works with: one that is kept, or that of a new sign-in.
struct AccountOptions: Sendable {
  static let options = [Option.account] + SignInOptions.options + StoreOptions.options

  typealias Work = (Account) async throws(Failure) -> Void

  let signIn: SignInOptions
  /// How long the built-in sandbox's tokens live.
  var tokenLifetime: Duration = .seconds(3600)
  /// Whether the user signs in when a token is needed, and not before the work is begun.
  var signsInWhenNeeded = false
  /// Hears what becomes of the token, from its first moment on.
  var delegate: (any TokenRefreshDelegate)?
  let choice: AccountChoice
  private let store: StoreOptions

  /// Checks the options; `areForNew` says that only an account that is named is of interest.
  init(_ arguments: Arguments, areForNew: Bool = false) throws(Failure) {
    let id = arguments[.account]
    signIn = try SignInOptions(arguments, orAccount: !areForNew || id != nil)
    store = try StoreOptions(arguments)
    choice = AccountChoice(id: id) { [signIn] in signIn.fit($0) }
  }

  /// Works with the account that is kept, or signs in first where there is none.
  func withAccount(_ console: Console, _ work: Work) async throws(Failure) {
    let (opened, isDone) = try await tryKept(console, work)
    guard !isDone else { return }
    if choice.id != nil, signIn.server == nil { throw try await choice.isMissing(in: opened) }
    try await self.signIn(signIn, opened, console, work)
  }

  /// Works with the account that is kept; returns `false` where there is none.
  func withKeptAccount(_ console: Console, _ work: Work) async throws(Failure) -> Bool {
    try await tryKept(console, work).isDone
  }

  /// Signs in and works with that account, whether or not there is one.
  ///
  /// An account that is named is signed in where it was before, unless the options say otherwise.
  func withNewAccount(_ console: Console, _ work: Work) async throws(Failure) {
    guard choice.id != nil, signIn.server == nil, let opened = try await store.openIfThere(console)
    else { return try await self.signIn(signIn, nil, console, work) }
    let record = try await choice.record(in: opened)
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
        try await work(Account(oauth: oauth, server: server, store: opened, signIn: signIn))
      }
    } catch {
      throw error.naming(oauth.module.hasAccessToken ? record.id : nil)
    }
    return (opened, true)
  }

  /// Signs in and works with that account; one of the built-in sandbox lasts as long.
  private func signIn(
    _ options: SignInOptions, _ opened: OpenStore?, _ console: Console, _ work: Work
  ) async throws(Failure) {
    if let configuration = options.configuration, let server = options.server {
      try options.checkVisitor()
      let opened = try await orOpen(opened, console)
      return try await self.work(options, configuration, server, opened, console, work)
    }
    try options.checkForSandbox()
    // The default store is for accounts that last.
    let opened = store.areGiven ? try await orOpen(opened, console) : .memory()
    try await EmbeddedSandbox.running(
      redirectURI: options.redirectURI.string, tokenLifetime: tokenLifetime
    ) { sandbox throws(Failure) in
      let configuration = try sandbox.configuration(for: options)
      try await self.work(
        options, configuration, .issuer(sandbox.issuer), opened, console, work,
        place: "the built-in sandbox, \(sandbox.issuer)")
    }
  }

  private func orOpen(_ opened: OpenStore?, _ console: Console) async throws(Failure) -> OpenStore {
    if let opened { return opened }
    return try await store.open(console)
  }

  private func work(
    _ options: SignInOptions, _ configuration: ClientConfiguration, _ server: Server,
    _ store: OpenStore, _ console: Console, _ work: Work, place: String? = nil
  ) async throws(Failure) {
    let oauth = oauth(choice.newID, keptIn: store)
    oauth.register(configuration)
    oauth.module.attributes = KeptClient(configuration, at: server).attributes
    let signIn = CommandLineSignIn(
      oauth, options, at: place ?? configuration.provider.name, console)
    try await oauth.settling(console) { () throws(Failure) in
      if signsInWhenNeeded { signIn.whenNeeded() } else { try await signIn.run() }
      try await work(
        Account(oauth: oauth, server: server.address, store: store, signIn: signIn))
    }
  }

  private func oauth(_ id: String, keptIn store: OpenStore) -> SQOAuth {
    let oauth = Account.oauth(id, keptIn: store)
    oauth.tokenRefreshDelegate = delegate
    return oauth
  }
}

extension Failure {
  /// The same with what helps where the account is not of the client that was named.
  fileprivate func isOfAnotherClient(_ error: SQOAuthError) -> Failure {
    guard error.code == .invalidConfiguration else { return self }
    return withHint("Name another --account: its own one, or a new one to sign in there.")
  }

  /// The same with a hint that names the account where that one can be signed in again.
  fileprivate func naming(_ id: String?) -> Failure {
    guard let id, hint == Self.signInAgain else { return self }
    return withHint(
      "Sign in again with 'sq-demo login --account \(ShellWords.quote(id.printable))'.")
  }
}
