import SQBasics
import SequencingOAuth

/// The options for the server, the client and the sign-in, for all commands that may need a
/// sign-in.
struct SignInArguments: Sendable {
  static let options: [Option] =
    Server.options
    + [.clientID, .clientSecretFile, .key, .redirectURI, .scope, .auth, .resource]
    + SignInProtections.options + ServerExceptions.options + [.browser, .timeout]

  static let defaultRedirectURI = "http://127.0.0.1/callback"

  /// The client at the named provider; `nil` for the built-in sandbox, and while it is not known.
  private(set) var configuration: ClientConfiguration?
  /// The provider that the options name; `nil` if they name none.
  private(set) var server: Server?
  private(set) var redirectURI: RedirectURI
  private(set) var scope: String?
  /// The only servers that may get the token; empty if the options name none.
  private(set) var resources: Set<ResourceOrigin>
  /// The identifiers of the resources that the tokens are for, taken from an account's record.
  private(set) var identifiers: [String] = []
  /// The user whom the server's token responses must name, from an account's record or from the
  /// search for the user's server.
  private(set) var subject: String?
  /// The user's handle, which led to the server; `nil` if it is not known.
  private(set) var handle: String?
  /// Whether the program has just found the user's server.
  private(set) var hasFoundServer = false
  /// The scopes that a token must have; empty unless the program has found the user's server.
  private(set) var requiredScopes: Set<String> = []
  /// The deviations from the standards that the server needs.
  private(set) var exceptions: ServerExceptions
  /// The protections of the sign-in beyond plain OAuth 2.
  private(set) var protections: SignInProtections
  let browser: BrowserOption
  /// Whether the user asks for a sign-in on another device.
  let usesDevice: Bool
  /// How the server answers the sign-in; `nil` if the server decides.
  let responseMode: SignInOptions.ResponseMode?
  let timeout: Duration
  /// The time limit for a sign-in on another device; `nil` for the lifetime of its code.
  let deviceTimeout: Duration?
  /// The maximum time without bytes from a server during a request.
  let answerLimit: Duration
  private(set) var secret: Secret?
  /// The file with the client's private key; `nil` if the client has none.
  private(set) var key: KeyFile?
  private let keyPassphrase: Secret?
  private(set) var authentication: ClientAuthentication?
  /// Whether the options name a redirect URI.
  private let namesRedirectURI: Bool
  /// The client's identifier; `nil` if the options name none.
  let clientID: String?
  /// A given option that the sandbox's client cannot use; `nil` if there is none.
  let strayOption: Option?
  /// A given option that only a client at a named provider can follow; `nil` if there is none.
  let providerOption: Option?
  /// Whether `--sandbox` was given, so the command uses the built-in sandbox.
  let usesSandbox: Bool

  /// Checks the options.
  ///
  /// With `orAccount`, an account in the store may supply missing values. With `findsServer`, the
  /// client ID may be the address of a document about the client, and the command finds the server.
  init(
    _ arguments: Arguments, orAccount: Bool = false, findsServer: Bool = false
  ) throws(Failure) {
    server = try Server(arguments)
    clientID = arguments[.clientID]
    usesSandbox = arguments.contains(.sandbox)
    browser = try BrowserOption(arguments[.browser] ?? (usesSandbox ? "sandbox" : nil))
    usesDevice = arguments.contains(.device)
    if usesDevice, arguments.contains(.browser), browser.playedUser == nil {
      throw .usage("--device opens no browser; leave --browser out")
    }
    strayOption = ([Option.clientSecretFile, .auth] + ServerExceptions.options)
      .first { arguments.contains($0) }
    providerOption =
      strayOption ?? [Option.key, .redirectURI, .par, .profile].first { arguments.contains($0) }
    if usesSandbox { try Self.checkSandboxAlone(arguments) }
    if server == nil {
      let mayBeOfSandbox = usesSandbox || (!orAccount && browser.playedUser != nil)
      let isDocument = findsServer && Self.isAddress(clientID)
      if clientID != nil, !mayBeOfSandbox, !isDocument { throw Self.needsProvider(.clientID) }
      if usesSandbox || !orAccount, let strayOption { throw Self.needsProvider(strayOption) }
    }
    namesRedirectURI = arguments.contains(.redirectURI)
    redirectURI = try Self.redirectURI(arguments[.redirectURI])
    scope = arguments[.scope]
    resources = try Self.resources(arguments.all(.resource))
    exceptions = try ServerExceptions(arguments)
    protections = try SignInProtections(arguments)
    responseMode = try Self.responseMode(arguments[.responseMode])
    if usesDevice, responseMode != nil {
      throw .usage("--device has no redirect; leave \(Option.responseMode.name) out")
    }
    let limit = try Self.timeout(arguments[.timeout])
    timeout = limit ?? .seconds(300)
    deviceTimeout = limit
    answerLimit = limit ?? .seconds(60)
    secret =
      try arguments[.clientSecretFile]
      .map { path throws(Failure) in try Secret(.clientSecret, file: path) }
      ?? arguments.secrets.client
    keyPassphrase = arguments.secrets.keyPassphrase
    key = try KeyFile(arguments[.key], passphrase: keyPassphrase)
    authentication = try Self.authentication(arguments[.auth])
    guard let server else { return }
    if wantedHandle != nil {
      try checkForHandle()
      return
    }
    guard let clientID else {
      guard secret == nil else {
        throw .usage(
          "--client-id is missing: a client secret belongs to a client; name it, or leave the secret "
            + "out (\(Option.clientSecretFile.name), SQ_CLIENT_SECRET)")
      }
      // At a server with an issuer, the program can register itself.
      guard case .issuer = server else {
        throw .usage("--client-id is missing: this provider needs it")
      }
      // Reject options that no client can use before the server registers a client.
      var later = self
      later.authentication = nil
      _ = try later.client("registered later", of: server)
      return
    }
    configuration = try client(clientID, of: server)
    try checkVisitor()
  }

  /// Returns these options, with missing values taken from an account's record.
  ///
  /// If the options name a client or server that is not the record's, nothing is taken: each client
  /// and server may get only its own stored values. With `signInCommand`, the account's key is not
  /// needed at once: if its file cannot be used, only a request that needs the key fails, with an
  /// error that names this command. With `ends`, the command only ends the account and sends no
  /// token to an API, so a limit that this version does not know prevents nothing.
  func completed(
    by record: AccountRecord, signInCommand: String? = nil, ends: Bool = false
  ) throws(Failure) -> SignInArguments {
    guard fit(record) else { return self }
    let kept = KeptClient(record)
    if !ends { try kept.checkLimits() }
    // A handle names only a user. The account knows the user's server.
    guard let server = wantedHandle == nil ? server ?? kept.server : kept.server else {
      return self
    }
    var options = self
    options.server = server
    options.secret = secret ?? kept.secret
    options.scope = scope ?? kept.scope
    options.resources = resources.isEmpty ? kept.resources : resources
    options.identifiers = kept.identifiers
    options.subject = kept.subject
    options.handle = kept.handle
    options.exceptions = exceptions.completed(by: kept.exceptions)
    options.protections = protections.completed(by: kept.protections)
    if key == nil { options.key = try keyFile(of: kept, record.id, signInCommand) }
    options.authentication = authentication ?? kept.authentication
    if !namesRedirectURI, let uri = kept.redirectURI {
      options.redirectURI = try Self.redirectURI(uri)
    }
    guard
      options.secret != nil || options.key != nil || options.authentication == .publicClient
        || !kept.needsSecret
    else { throw Self.needsSecret(record.id) }
    options.configuration = try options.client(record.clientID, of: server)
    return options
  }

  /// Returns these options with the client that the server has registered.
  func completed(by registration: ClientRegistration) throws(Failure) -> SignInArguments {
    guard let server else { return self }
    var options = self
    options.secret = registration.clientSecret.map { Secret(.clientSecret, $0) }
    // A registration has the same name for Basic with and without escapes, so keep the user's
    // choice.
    if authentication != .basicUnescaped || registration.clientAuthentication != .basic {
      options.authentication = registration.clientAuthentication
    }
    if registration.requiresPushedRequests { options.protections.pushRequest() }
    options.configuration = try options.client(registration.clientID, of: server)
    return options
  }

  /// Returns these options with the identifiers and servers of an account's resource.
  ///
  /// If the options name servers, these servers stay.
  func forResource(of kept: KeptClient) throws(Failure) -> SignInArguments {
    guard !kept.identifiers.isEmpty else { return self }
    try kept.checkLimits()
    var options = self
    options.identifiers = kept.identifiers
    if resources.isEmpty { options.resources = kept.resources }
    return try options.rebuilt()
  }

  /// Returns these options with a client at a server that the program has found.
  ///
  /// A search that began with the user's DID does not know the handle, so an earlier one stays.
  func signingIn(
    _ configuration: ClientConfiguration, at issuer: String, as handle: String?
  ) throws(Failure) -> SignInArguments {
    var options = self
    options.server = .issuer(issuer)
    options.scope = configuration.scope
    options.subject = configuration.expectedSubject
    options.handle = handle ?? self.handle
    options.hasFoundServer = true
    options.requiredScopes = configuration.requiredScopes
    options.resources.formUnion(configuration.resourceOrigins)
    options.protections.pushRequest()
    options.protections.bindTokens()
    options.authentication = key == nil ? .publicClient : .privateKeyJWT
    options.configuration = try options.client(configuration.clientID, of: .issuer(issuer))
    return options
  }

  /// Returns these options with the given scope in place of their own.
  func requesting(scope: String) throws(Failure) -> SignInArguments {
    var options = self
    options.scope = scope
    return try options.rebuilt()
  }

  /// Returns these options with another client secret than the given secret, or with none.
  func with(secret: String?) -> SignInArguments {
    var options = self
    options.secret = secret.map { Secret(.clientSecret, $0) }
    return options
  }

  /// Returns these options with the key's passphrase, which the user enters if necessary.
  func unlocked(_ console: Console) async throws(Failure) -> SignInArguments {
    guard let key, key.isLocked else { return self }
    var options = self
    options.key = try await key.unlocked(console)
    return try options.rebuilt()
  }

  private func rebuilt() throws(Failure) -> SignInArguments {
    guard let configuration, let server else { return self }
    var options = self
    options.configuration = try client(configuration.clientID, of: server)
    return options
  }

  private func keyFile(
    of kept: KeptClient, _ id: String, _ signInCommand: String?
  ) throws(Failure) -> KeyFile? {
    do throws(Failure) {
      return try KeyFile(kept.keyFile, passphrase: keyPassphrase)
    } catch {
      let failure = error.ofKey(neededBy: id)
      guard let signInCommand, let path = kept.keyFile, failure.code == Failure.keyUnavailable
      else { throw failure }
      return KeyFile(unusable: path, because: failure.namingNewKey(signInCommand))
    }
  }

  /// Returns these options for the removal of an account whose client's key stays locked.
  func leavingKeyLocked(because failure: Failure) throws(Failure) -> SignInArguments {
    guard let key, key.isLocked else { return self }
    var options = self
    options.key = KeyFile(unusable: key.path, because: failure)
    return try options.rebuilt()
  }

  /// Returns the client, without its key while the key is locked.
  private func client(
    _ clientID: String, of server: Server
  ) throws(Failure) -> ClientConfiguration {
    let isLocked = key?.isLocked == true
    let clientKey = try isLocked ? nil : key?.clientKey(for: protections.profile, at: server)
    return try Failure.refusing(address: server.address) { () throws(SQOAuthError) in
      var client = try ClientConfiguration(
        clientID: clientID, clientSecret: secret?.value, clientKey: clientKey,
        redirectURI: redirectURI.string, scope: scope,
        provider: exceptions.provider(server.provider),
        clientAuthentication: isLocked ? nil : authentication)
      exceptions.apply(to: &client)
      protections.apply(to: &client)
      client.signInTimeout = timeout
      client.timeout = answerLimit
      client.resourceOrigins = resources
      client.resources = identifiers
      client.requiredScopes = requiredScopes
      client.expectedSubject = subject
      // If only a user's name or a resource's address led to the server, anyone may have chosen the
      // server, so it must not be on this computer.
      client.acceptsServersOnThisComputer =
        subject == nil && identifiers.allSatisfy(EmbeddedSandbox.canBeVisited)
      return client
    }
  }
}
