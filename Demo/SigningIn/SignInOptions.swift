import SequencingOAuth

/// Where and how to sign in, for every command that may have to.
struct SignInOptions: Sendable {
  static let options: [Option] =
    Server.options + [
      .clientID, .clientSecretFile, .redirectURI, .scope, .auth, .resource, .browser, .timeout,
    ]

  static let defaultRedirectURI = "http://127.0.0.1/callback"

  /// The client of a provider that was named; `nil` for the built-in sandbox.
  private(set) var configuration: ClientConfiguration?
  /// The provider that was named.
  private(set) var server: Server?
  private(set) var redirectURI: RedirectURI
  private(set) var scope: String?
  /// The servers that alone may see the token; empty where none was named.
  private(set) var resources: Set<ResourceOrigin>
  let browser: BrowserOption
  let timeout: Duration
  /// How long a server may let a request wait.
  let patience: Duration
  private var secret: Secret?
  private var authentication: ClientAuthentication?
  /// Whether the redirect URI is not the default one.
  private let namesRedirectURI: Bool
  /// The client's identifier, if one was named.
  let clientID: String?
  /// An option that is of use to a client of another provider than the sandbox only.
  private let strayOption: Option?
  /// Whether the sandbox inside the program was asked for, and no account is.
  let usesSandbox: Bool

  /// Checks the options; `orAccount` says that an account that is kept may tell what they leave out.
  init(_ arguments: Arguments, orAccount: Bool = false) throws(Failure) {
    server = try Server(arguments)
    clientID = arguments[.clientID]
    usesSandbox = arguments.contains(.sandbox)
    browser = try BrowserOption(arguments[.browser] ?? (usesSandbox ? "sandbox" : nil))
    strayOption = [Option.clientSecretFile, .auth].first { arguments.contains($0) }
    if usesSandbox { try Self.checkSandboxAlone(arguments) }
    if server == nil {
      let mayBeOfSandbox = usesSandbox || (!orAccount && browser == .sandbox)
      if clientID != nil, !mayBeOfSandbox { throw Self.needsProvider(.clientID) }
      if usesSandbox || !orAccount, let strayOption { throw Self.needsProvider(strayOption) }
    }
    namesRedirectURI = arguments.contains(.redirectURI)
    redirectURI = try Self.redirectURI(arguments[.redirectURI])
    scope = arguments[.scope]
    resources = try Self.resources(arguments.all(.resource))
    let limit = try Self.timeout(arguments[.timeout])
    timeout = limit ?? .seconds(300)
    patience = limit ?? .seconds(60)
    secret =
      try arguments[.clientSecretFile]
      .map { path throws(Failure) in try Secret(.clientSecret, file: path) }
      ?? arguments.secrets.client
    authentication = try Self.authentication(arguments[.auth])
    guard let server else { return }
    guard let clientID else {
      throw .usage("--client-id is missing: every provider knows its clients by one")
    }
    configuration = try client(clientID, of: server)
    try checkVisitor()
  }

  /// The same options with what an account tells of its client where they leave it out.
  ///
  /// Where they name another client or another server than the account's they stay as they are:
  /// what was kept for the one is not the other's to see.
  func completed(by record: AccountRecord) throws(Failure) -> SignInOptions {
    guard fit(record) else { return self }
    let kept = KeptClient(record)
    guard let server = server ?? kept.server else { return self }
    var options = self
    options.server = server
    options.secret = secret ?? kept.secret
    options.scope = scope ?? kept.scope
    options.resources = resources.isEmpty ? kept.resources : resources
    options.authentication = authentication ?? kept.authentication
    if !namesRedirectURI, let uri = kept.redirectURI {
      options.redirectURI = try Self.redirectURI(uri)
    }
    guard options.secret != nil || options.authentication == .publicClient || !kept.needsSecret
    else { throw Self.needsSecret(record.id) }
    options.configuration = try options.client(record.clientID, of: server)
    return options
  }

  /// Whether an account was signed in by the client that is named; any was where none is.
  func fit(_ record: AccountRecord) -> Bool {
    guard let server, let clientID else { return true }
    return server.has(record) && record.clientID == clientID
  }

  /// Refuses options of a client where it is the built-in sandbox: their user meant another provider.
  func checkForSandbox() throws(Failure) {
    if let strayOption { throw Self.needsProvider(strayOption) }
  }

  /// Whether the redirect needs nobody to paste it.
  var readsNoInput: Bool { redirectURI.isLoopback || browser == .sandbox }

  /// Keeps the visitor, who types the sandbox's passwords, from other machines.
  func checkVisitor() throws(Failure) {
    guard browser == .sandbox, let server, !EmbeddedSandbox.canBeVisited(server.address) else {
      return
    }
    throw .usage("--browser sandbox plays the user of a sandbox on this machine only")
  }

  /// Refuses a sign-in whose end would fail for want of the client's secret.
  func checkSecret() throws(Failure) {
    guard server == .known(.sequencing), secret == nil, authentication == nil else { return }
    throw Failure(
      "secret_needed", "Sequencing.com asks every client for its secret", status: .wrongUsage
    ).withHint(Self.placesOfSecret)
  }

  private func client(
    _ clientID: String, of server: Server
  ) throws(Failure) -> ClientConfiguration {
    do throws(SQOAuthError) {
      var client = try ClientConfiguration(
        clientID: clientID, clientSecret: secret?.value, redirectURI: redirectURI.string,
        scope: scope, provider: server.provider, clientAuthentication: authentication)
      client.signInTimeout = timeout
      client.resourceOrigins = resources
      return client
    } catch {
      throw .refused(error)
    }
  }
}

extension RedirectURI {
  /// Whether the SDK receives the redirect; others reach the app, and this one is not registered
  /// with the system for any.
  var isLoopback: Bool { string.lowercased().hasPrefix("http:") }
}
