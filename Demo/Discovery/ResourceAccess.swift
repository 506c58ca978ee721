import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthDiscovery

/// Requests to a resource at a given address, with the sign-ins that its server demands.
struct ResourceAccess: Sendable {
  let address: String
  /// The name of the account that is kept for the resource, or the name that the user gives to a
  /// new account; `nil` if there is neither.
  let accountID: String?
  let options: AccountOptions
  /// The records of all accounts; some may have a client at the resource's authorization server.
  let records: [AccountRecord]

  init(
    _ address: String, _ accountID: String?, _ options: AccountOptions, _ records: [AccountRecord]
  ) {
    self.address = address
    self.accountID = accountID
    self.options = options
    self.records = records
  }

  var signIn: SignInArguments { options.signIn }

  /// The name that the user gives to a new account.
  private var newID: String? {
    accountID.flatMap { id in records.contains { $0.id == id } ? nil : id }
  }

  /// The outcome of a request.
  enum Outcome {
    /// The server's answer, the account's current token, if there is an account, and the reason
    /// why the newest token could not be stored.
    case answered(WebResponse, SQToken?, notKept: SQOAuthError?)
    /// The server demands a sign-in, but does not say where; the error is the reason.
    case undescribed(SQOAuthError)
  }

  /// Sends a request, and signs the user in for a new account or if the server demands it.
  func send(_ request: WebRequest, _ console: Console) async throws(Failure) -> Outcome {
    try checkName()
    try checkKept()
    guard signIn.key?.isLocked != true else {
      let unlocked = ResourceAccess(
        address, accountID, try await options.unlocked(console), records)
      return try await unlocked.send(request, console)
    }
    let opened =
      if let opened = options.opened { opened } else {
        try await options.store.open(console)
      }
    let screens = ResourceScreens(address, signIn, newID: newID, console)
    var environment = console.environment
    environment.userAgent = screens.browser
    let accounts = AccountManager(store: opened.store, environment: environment)
    let client = try client(accounts, opened, screens)
    let outcome = await Result.of { () throws(SQOAuthError) in
      if try await client.account() != nil {
        try checkListed()
        screens.noteAccount()
      } else if newID != nil {
        // Sign in first: without the new account's token, the server could answer differently.
        try await client.signIn()
      }
      return try await client.send(request)
    }
    // A signal may have interrupted the request, and the store reads nothing for a cancelled task.
    let account = try? await uncancelled { () throws(SQOAuthError) in try await client.account() }
    let notKept = await keep(account, of: accounts, screens, opened, console)
    switch outcome {
    case .success(let response):
      return .answered(response, account?.currentToken, notKept: notKept)
    case .failure(let error) where error.isWithoutDescription && notKept == nil:
      return .undescribed(error)
    case .failure(let error):
      let id = account?.accountID ?? accountID
      let failure = screens.failure(
        error, signIn: await signInCommand(id, in: opened),
        login: options.store.signInCommand("NAME")
      ).hiding(account?.currentToken)
      throw console.failure(failure, notKept: notKept) ?? failure
    }
  }

  /// Returns the command that signs the account of the resource in again with more scopes; `nil`
  /// without an account.
  private func signInCommand(_ id: String?, in opened: OpenStore) async -> String? {
    guard let id, let record = try? await opened.store.load(id) else { return nil }
    return await options.widerSignInCommand(record, in: opened)
  }

  /// The failure for a resource that demands a token without naming its authorization server; `nil`
  /// if there is no account to choose, or if the user names a new account.
  ///
  /// A token that was meant for another server goes to this resource only if the user says so.
  var accountIsOpen: Failure? {
    let others = records.filter {
      let client = KeptClient($0)
      // Leave out an account with listed servers, because its token may go only to those servers.
      return client.identifiers.isEmpty && client.resources.isEmpty
    }
    guard !others.isEmpty, newID == nil else { return nil }
    return AccountChoice.isOpen(
      among: others,
      "\(address.onScreen) needs a token and does not say which server gives it; no account is for "
        + "that address, so name the account whose token may go there")
  }

  private func client(
    _ accounts: AccountManager, _ opened: OpenStore, _ screens: ResourceScreens
  ) throws(Failure) -> ResourceClient {
    var settings = settings
    settings.interaction = .signInAndStepUp
    settings.accountID = accountID
    settings.signInTimeout = signIn.timeout
    settings.usesCode = { issuer, server async throws(SQOAuthError) -> Bool in
      try checkOptions(at: issuer)
      return try await screens.usesCode(issuer, server)
    }
    settings.showsCode = screens.showCode
    settings.showsPage = screens.showPage
    settings.attributes = { client, scope in
      KeptClient(client, at: .issuer(client.provider.issuer ?? ""), scope: scope).attributes
    }
    return try Failure.refusing { [settings] () throws(SQOAuthError) in
      try ResourceClient(
        address, as: identity(in: opened), accounts: accounts, options: settings)
    }
  }

  /// The settings for requests, from the options of the command line.
  var settings: ResourceClient.Options {
    var settings = ResourceClient.Options()
    settings.scope = signIn.scope
    settings.timeout = signIn.answerLimit
    settings.tokenBinding = signIn.protections.usesDPoP ? .dpop() : nil
    return settings
  }

  /// Returns how the program identifies itself at any server: as the client of another account,
  /// with the address of a document about itself, or as a client that it registers.
  func identity(in opened: OpenStore?) -> ClientIdentity {
    ClientIdentity(
      registering: signIn.metadataOfResource,
      in: opened?.registrations ?? MemoryRegistrationStore(),
      documentAddress: signIn.documentAddress, clients: clients)
  }

  /// The clients of accounts that `sq-demo login` signed in at an issuer.
  ///
  /// They have no secret that the user gave: the resource chooses the server, and could choose one
  /// of another client than the user meant.
  private var clients: [ClientConfiguration] {
    records.filter { KeptClient($0).identifiers.isEmpty }.compactMap { record in
      guard case .issuer? = KeptClient(record).server else { return nil }
      return (try? signIn.with(secret: nil).completed(by: record))?.configuration
    }
  }

  /// Waits until the store has the newest token, and remembers the client of a new sign-in.
  ///
  /// Returns the reason why the newest token could not be stored; `nil` if the store has it.
  private func keep(
    _ account: AuthorizationModule?, of accounts: AccountManager, _ screens: ResourceScreens,
    _ opened: OpenStore, _ console: Console
  ) async -> SQOAuthError? {
    do throws(SQOAuthError) {
      try await console.tellingOfLastWait { () throws(SQOAuthError) in
        try await accounts.flush()
      }
    } catch {
      guard account?.hasAccessToken == false else { return error }
      // The session has ended. The error that says why is reported after this one.
      console.report(Failure(notErased: error))
      return nil
    }
    guard screens.hasSignedIn, let id = account?.accountID,
      let record = try? await uncancelled({ try await opened.store.load(id) })
    else { return nil }
    await options.remember(id, record.clientID, KeptClient(record), in: opened, console)
    if accountID == nil || newID != nil, let place = await opened.place {
      console.progress("The account is kept in \(place), as \(id.onScreen).")
    }
    return nil
  }
}

extension Failure {
  /// Returns this failure with `error` as the reason why no authorization server is known.
  ///
  /// A failure with another code than `no_account` stays unchanged.
  func missing(_ error: SQOAuthError, of address: String) -> Failure {
    guard code == "no_account" else { return self }
    let reason = error.message.replacing("; configure the client by hand", with: "")
    let place = ShellWords.quote(String(address.prefix { $0 != "?" }).onScreen)
    return Failure(code, "\(message), and \(reason)", status: status).withHint(
      ["'sq-demo discover \(place)' shows the search.", hint].compactMap(\.self)
        .joined(separator: "\n"))
  }
}

extension SQOAuthError {
  /// Whether a resource has no metadata (RFC 9728), so its authorization server is not known.
  fileprivate var isWithoutDescription: Bool {
    cause is NoResourceMetadata
  }
}
