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
  static let clientID = Option(
    "--client-id", value: "ID", help: "The client's identifier at that server.")
  static let clientSecretFile = Option(
    "--client-secret-file", value: "PATH",
    help: "A file whose first line is the client's secret; the environment variable "
      + "SQ_CLIENT_SECRET can hold it too. A public client has none.")
  static let redirectURI = Option(
    "--redirect-uri", value: "URI",
    help: "Where the server sends you back to, as the client registered it. The default is "
      + "\(SignInOptions.defaultRedirectURI) on any free port.")
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
    .issuer, .authorize, .tokenEndpoint, .clientID, .clientSecretFile, .redirectURI, .scope, .auth,
    .browser, .timeout,
  ]

  static let defaultRedirectURI = "http://127.0.0.1/callback"

  /// The client of a provider that was named; `nil` for the built-in sandbox.
  private(set) var configuration: ClientConfiguration?
  let issuer: String?
  let redirectURI: String
  let scope: String?
  let browser: BrowserOption
  let timeout: Duration

  init(_ arguments: Arguments) throws(Failure) {
    issuer = arguments[.issuer]
    redirectURI = try Self.redirectURI(arguments[.redirectURI])
    scope = arguments[.scope]
    browser = try BrowserOption(arguments[.browser])
    timeout = try Self.timeout(arguments[.timeout])
    configuration = try Self.provider(arguments)
      .map { provider throws(Failure) in try Self.client(of: provider, arguments) }
    configuration?.signInTimeout = timeout
    if configuration == nil {
      try Self.refuseClientOptions(arguments)
    } else {
      try refuseVisitor(arguments)
    }
  }

  private static func client(
    of provider: Provider, _ arguments: Arguments
  ) throws(Failure) -> ClientConfiguration {
    guard let clientID = arguments[.clientID] else {
      throw .usage("--client-id is missing: every provider knows its clients by one")
    }
    let secret =
      try arguments[.clientSecretFile]
      .map { path throws(Failure) in try ClientSecret(file: path) } ?? arguments.secret
    let authentication = try authentication(arguments[.auth])
    let redirectURI = try redirectURI(arguments[.redirectURI])
    do throws(SQOAuthError) {
      return try ClientConfiguration(
        clientID: clientID, clientSecret: secret?.value, redirectURI: redirectURI,
        scope: arguments[.scope], provider: provider, clientAuthentication: authentication)
    } catch {
      throw .refused(error)
    }
  }

  private static func provider(_ arguments: Arguments) throws(Failure) -> Provider? {
    switch (arguments[.issuer], arguments[.authorize], arguments[.tokenEndpoint]) {
    case (nil, nil, nil): nil
    case (let issuer?, nil, nil): .issuer(issuer)
    case (nil, let authorize?, let token?): .endpoints(authorization: authorize, token: token)
    case (_?, _, _): throw .usage("--issuer finds the endpoints; leave --authorize and --token out")
    default: throw .usage("--authorize and --token go together")
    }
  }
}

// MARK: - Values

extension SignInOptions {
  private static func redirectURI(_ text: String?) throws(Failure) -> String {
    guard let text else { return defaultRedirectURI }
    do throws(SQOAuthError) {
      _ = try RedirectURI(text)
    } catch {
      throw .refused(error)
    }
    // The SDK leaves other redirects to the app, and this one registers no scheme with the system.
    guard text.lowercased().hasPrefix("http:") else {
      throw .usage("--redirect-uri: this program receives redirects on a loopback address only")
    }
    return text
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

  /// Options of a client are of no use to the sandbox, so their user meant another provider.
  private static func refuseClientOptions(_ arguments: Arguments) throws(Failure) {
    for option in [Option.clientID, .clientSecretFile, .auth] where arguments.contains(option) {
      throw .usage(
        "\(option.name) needs a provider: --issuer, or --authorize and --token; "
          + "without one it is the built-in sandbox")
    }
  }

  /// The visitor types the sandbox's passwords, which no other machine should get to see.
  private func refuseVisitor(_ arguments: Arguments) throws(Failure) {
    guard browser == .sandbox, let address = arguments[.issuer] ?? arguments[.authorize],
      !EmbeddedSandbox.canBeVisited(address)
    else { return }
    throw .usage("--browser sandbox plays the user of a sandbox on this machine only")
  }
}
