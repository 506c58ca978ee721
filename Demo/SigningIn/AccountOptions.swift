import SequencingOAuth

/// The account that a command works with.
struct Account: Sendable {
  /// Under this name the account is kept, until there can be several.
  static let id = "default"

  let oauth: SQOAuth
  /// An address at its authorization server, where one is known.
  let server: String?
  /// Where it is kept, in words; `nil` for nowhere.
  let place: String?

  /// The SDK, with a store.
  static func oauth(keptIn store: any TokenStore) -> SQOAuth {
    var environment = ClientEnvironment()
    environment.tokenStore = store
    return SQOAuth(environment: environment, accountID: id)
  }
}

/// Which account a command works with: one that is kept, or that of a new sign-in.
struct AccountOptions: Sendable {
  static let options = SignInOptions.options + [.store]

  typealias Work = (Account) async throws(Failure) -> Void

  let signIn: SignInOptions
  /// How long the built-in sandbox's tokens live.
  var tokenLifetime: Duration = .seconds(3600)
  /// Hears what becomes of the token, from its first moment on.
  var delegate: (any TokenRefreshDelegate)?
  private let store: StoreOption?

  /// Checks the options; `areForNew` says that an account that is kept is of no interest.
  init(_ arguments: Arguments, areForNew: Bool = false) throws(Failure) {
    signIn = try SignInOptions(arguments, orAccount: !areForNew)
    store = try StoreOption(arguments[.store])
  }

  /// Works with the account that is kept, or signs in first where there is none.
  func withAccount(_ console: Console, _ work: Work) async throws(Failure) {
    let (store, place) = try StoreOption.open(self.store)
    guard let record = try await Self.record(in: store) else {
      return try await withNewAccount(console, work)
    }
    let oauth = oauth(keptIn: store)
    if let configuration = try signIn.configuration(of: record) { oauth.register(configuration) }
    do throws(SQOAuthError) {
      try await oauth.module.restore()
    } catch {
      throw Failure(error).withHint("Sign in with 'sq-demo login', or name another --store.")
    }
    try await work(
      Account(oauth: oauth, server: signIn.server ?? record.issuer, place: place))
  }

  /// Signs in and works with that account; an account of the built-in sandbox lasts as long.
  func withNewAccount(_ console: Console, _ work: Work) async throws(Failure) {
    if let configuration = signIn.configuration {
      let (store, place) = try StoreOption.open(store)
      console.progress("Signing in at \(configuration.provider.name.printable).")
      return try await self.work(
        configuration, signIn.server, keptIn: store, place, console, work)
    }
    try signIn.checkForSandbox()
    // The default store is for accounts that last.
    let (store, place) = try StoreOption.open(store ?? .memory)
    try await EmbeddedSandbox.running(
      redirectURI: signIn.redirectURI.string, tokenLifetime: tokenLifetime
    ) { sandbox throws(Failure) in
      console.progress("Signing in at the built-in sandbox, \(sandbox.issuer).")
      try await self.work(
        try sandbox.configuration(for: signIn), sandbox.issuer, keptIn: store, place, console, work)
    }
  }

  private func work(
    _ configuration: ClientConfiguration, _ server: String?, keptIn store: any TokenStore,
    _ place: String?, _ console: Console, _ work: Work
  ) async throws(Failure) {
    let oauth = oauth(keptIn: store)
    oauth.register(configuration)
    _ = try await CommandLineSignIn(oauth: oauth, options: signIn).run(console)
    try await work(Account(oauth: oauth, server: server, place: place))
  }

  private func oauth(keptIn store: any TokenStore) -> SQOAuth {
    let oauth = Account.oauth(keptIn: store)
    oauth.tokenRefreshDelegate = delegate
    return oauth
  }

  /// The account in a store, which tells the client that it belongs to.
  private static func record(
    in store: any TokenStore
  ) async throws(Failure) -> AccountRecord? {
    do {
      return try await store.load(Account.id)
    } catch let error as SQOAuthError {
      throw Failure(error)
    } catch {
      throw Failure(SQOAuthError(.storeFailed, "the token store failed"))
    }
  }
}
