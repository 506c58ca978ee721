import SequencingOAuth

extension Option {
  static let issuer = Option(
    "--issuer", value: "URL",
    help: "The authorization server, by the identifier under which it publishes its metadata.")
  static let authorize = Option(
    "--authorize", value: "URL",
    help: "Its authorization endpoint, where it publishes none; with --token.")
  static let tokenEndpoint = Option(
    "--token", value: "URL", help: "Its token endpoint; with --authorize.")
  static let revocationEndpoint = Option(
    "--revocation", value: "URL",
    help: "Its revocation endpoint, if it has one; with --authorize and --token.")
  static let clientID = Option(
    "--client-id", value: "ID", help: "The client's identifier at that server.")
  static let clientSecretFile = Option(
    "--client-secret-file", value: "PATH",
    help: "A file whose first line is the client's secret; the environment variable "
      + "SQ_CLIENT_SECRET can hold it too. A public client has none.")
  static let redirectURI = Option(
    "--redirect-uri", value: "URI",
    help: "Where the server sends you back to, as the client registered it. The default is "
      + "\(SignInOptions.defaultRedirectURI) on any free port. What is not on a loopback "
      + "address does not reach this program by itself: it asks you to paste the address.")
  static let scope = Option(
    "--scope", value: "SCOPE", help: "What to ask for; several scopes with spaces between them.")
  static let auth = Option(
    "--auth", value: "basic|post|none",
    help: "How the client proves itself, whatever the server's metadata lists.")
  static let timeout = Option(
    "--timeout", value: "SECONDS", help: "How long you may take to sign in; 300 by default.")
}

/// Where and how to sign in, for every command that may have to.
struct SignInOptions: Sendable {
  static let options: [Option] = [
    .issuer, .authorize, .tokenEndpoint, .revocationEndpoint, .clientID, .clientSecretFile,
    .redirectURI, .scope, .auth, .browser, .timeout,
  ]

  static let defaultRedirectURI = "http://127.0.0.1/callback"

  /// The client of a provider that was named; `nil` for the built-in sandbox.
  private(set) var configuration: ClientConfiguration?
  /// An address at the provider that was named.
  let server: String?
  let redirectURI: RedirectURI
  let scope: String?
  let browser: BrowserOption
  let timeout: Duration
  private let secret: ClientSecret?
  private let authentication: ClientAuthentication?
  /// An option that is of use to a client of another provider than the sandbox only.
  private let strayOption: Option?

  /// Checks the options; `orAccount` says that an account that is kept may tell what they leave out.
  init(_ arguments: Arguments, orAccount: Bool = false) throws(Failure) {
    let provider = try Self.provider(arguments)
    strayOption = [Option.clientSecretFile, .auth].first { arguments.contains($0) }
    if provider == nil {
      if arguments.contains(.clientID) { throw Self.needsProvider(.clientID) }
      if !orAccount, let strayOption { throw Self.needsProvider(strayOption) }
    }
    server = arguments[.issuer] ?? arguments[.authorize]
    redirectURI = try Self.redirectURI(arguments[.redirectURI])
    scope = arguments[.scope]
    browser = try BrowserOption(arguments[.browser])
    timeout = try Self.timeout(arguments[.timeout])
    secret =
      try arguments[.clientSecretFile]
      .map { path throws(Failure) in try ClientSecret(file: path) } ?? arguments.secret
    authentication = try Self.authentication(arguments[.auth])
    guard let provider else { return }
    guard let clientID = arguments[.clientID] else {
      throw .usage("--client-id is missing: every provider knows its clients by one")
    }
    configuration = try client(clientID, of: provider)
    try refuseVisitor()
  }

  /// The client of an account that is kept: the one that was named, or the one it was signed in by.
  ///
  /// `nil` where neither is known.
  func configuration(of record: AccountRecord) throws(Failure) -> ClientConfiguration? {
    if let configuration { return configuration }
    guard let issuer = record.issuer else { return nil }
    return try client(record.clientID, of: .issuer(issuer))
  }

  /// Refuses options of a client where it is the built-in sandbox: their user meant another provider.
  func checkForSandbox() throws(Failure) {
    if let strayOption { throw Self.needsProvider(strayOption) }
  }

  /// Whether the redirect needs nobody to paste it.
  var readsNoInput: Bool { redirectURI.isLoopback || browser == .sandbox }

  private func client(
    _ clientID: String, of provider: Provider
  ) throws(Failure) -> ClientConfiguration {
    do throws(SQOAuthError) {
      var client = try ClientConfiguration(
        clientID: clientID, clientSecret: secret?.value, redirectURI: redirectURI.string,
        scope: scope, provider: provider, clientAuthentication: authentication)
      client.signInTimeout = timeout
      return client
    } catch {
      throw .refused(error)
    }
  }

  private static func provider(_ arguments: Arguments) throws(Failure) -> Provider? {
    let revocation = arguments[.revocationEndpoint]
    switch (arguments[.issuer], arguments[.authorize], arguments[.tokenEndpoint]) {
    case (nil, nil, nil) where revocation == nil:
      return nil
    case (let issuer?, nil, nil) where revocation == nil:
      return .issuer(issuer)
    case (nil, let authorize?, let token?):
      return .endpoints(authorization: authorize, token: token, revocation: revocation)
    case (_?, _, _):
      throw .usage("--issuer finds the endpoints; leave --authorize, --token and --revocation out")
    default:
      throw .usage("--authorize and --token go together, and --revocation with them")
    }
  }
}

// MARK: - Values

extension SignInOptions {
  private static func redirectURI(_ text: String?) throws(Failure) -> RedirectURI {
    do throws(SQOAuthError) {
      return try RedirectURI(text ?? defaultRedirectURI)
    } catch {
      throw .refused(error)
    }
  }

  private static func authentication(_ text: String?) throws(Failure) -> ClientAuthentication? {
    switch text {
    case nil: nil
    case "basic": .basic
    case "post": .post
    case "none": .publicClient
    case let text?: throw .usage("--auth takes basic, post or none, not \"\(text.printable)\"")
    }
  }

  private static func timeout(_ text: String?) throws(Failure) -> Duration {
    guard let text else { return .seconds(300) }
    guard let seconds = Int(text), (1...86_400).contains(seconds) else {
      throw .usage("--timeout takes whole seconds, from 1 to 86400")
    }
    return .seconds(seconds)
  }

  private static func needsProvider(_ option: Option) -> Failure {
    .usage(
      "\(option.name) needs a provider: --issuer, or --authorize and --token; "
        + "without one it is the built-in sandbox")
  }

  /// The visitor types the sandbox's passwords, which no other machine should get to see.
  private func refuseVisitor() throws(Failure) {
    guard browser == .sandbox, let server, !EmbeddedSandbox.canBeVisited(server) else { return }
    throw .usage("--browser sandbox plays the user of a sandbox on this machine only")
  }
}

extension RedirectURI {
  /// Whether the SDK receives the redirect; others reach the app, and this one is not registered
  /// with the system for any.
  var isLoopback: Bool { string.lowercased().hasPrefix("http:") }
}
