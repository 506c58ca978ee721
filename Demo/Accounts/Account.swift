import SequencingOAuth

/// The account that a command uses.
struct Account: Sendable {
  let oauth: SQOAuth
  /// The events of the account's session, including the events before its first token.
  let events: AsyncStream<SessionEvent>
  /// The address of the account's authorization server, if it is known.
  let server: String?
  /// The name or address of the account's server, to show to the user.
  var place: String?
  /// The command that signs the account in again, to show to the user.
  var signInCommand = "sq-demo login"
  /// The command that signs the account in again with more scopes.
  var widerSignInCommand = "sq-demo login"
  /// The built-in sandbox; `nil` at any other server.
  var sandbox: EmbeddedSandbox?
  /// Whether the user listed the servers that may get the account's token.
  var hasListedResources = false
  /// The store that keeps the account.
  let store: OpenStore
  /// The sign-in of the account's user; `nil` if the account's client is not known.
  let signIn: CommandLineSignIn?

  var id: String { oauth.module.accountID }

  /// Creates the SDK's object for an account in a store.
  static func oauth(_ id: String, keptIn store: OpenStore, _ console: Console) -> SQOAuth {
    var environment = console.environment
    environment.tokenStore = store.store
    let oauth = SQOAuth(environment: environment, accountID: id)
    // Most commands refresh a token only when they need it. The commands `watch` and `tour` turn
    // the automatic refresh on.
    oauth.refreshesAutomatically = false
    return oauth
  }
}
