import SequencingOAuth

/// The account that a command works with.
struct Account: Sendable {
  let oauth: SQOAuth
  /// An address at its authorization server, where one is known.
  let server: String?
  /// The server's name for a person, or its address.
  var place: String?
  /// What signs the account in again, for a person to type.
  var signInCommand = "sq-demo login"
  /// Whether the servers that may see its token were listed.
  var hasListedResources = false
  /// Where it is kept.
  let store: OpenStore
  /// How its user signs in, where that is known.
  let signIn: CommandLineSignIn?

  var id: String { oauth.module.accountID }

  /// The SDK, for an account in a store.
  static func oauth(_ id: String, keptIn store: OpenStore) -> SQOAuth {
    var environment = ClientEnvironment()
    environment.tokenStore = store.store
    let oauth = SQOAuth(environment: environment, accountID: id)
    // A command refreshes what it needs; only 'watch' keeps a token fresh.
    oauth.refreshesAutomatically = false
    return oauth
  }
}
