import SQBasics
public import SequencingOAuth

// Signing the user in at the server of the resource.
extension ResourceClient {
  /// Signs the user in for the resource, or joins a running sign-in; opens a browser, or shows a
  /// code if ``Options/showsCode`` is set.
  ///
  /// The client asks the resource again which authorization server it trusts. If the stored account
  /// belongs to a different server, the program becomes a client of the new server, and sends it
  /// nothing that belongs to the old server.
  ///
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.resourceMetadataInvalid`,
  ///   `SQOAuthError.Code.clientUnknown`, the errors of a registration and of a sign-in.
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> AuthorizationModule {
    try await gainAccess(Demand(challenges: [], refused: nil, isSignIn: true)).module
  }

  /// Why a client needs access that it does not have.
  struct Demand: Sendable {
    let challenges: [TokenChallenge]
    /// The token that the resource refused; `nil` if the resource received no token.
    let refused: SQToken?
    /// Whether the app asked for a sign-in, so that an existing token is not enough.
    var isSignIn = false
    /// The client that the authorization server no longer knows; `nil` if there is none.
    var unknownClient: String?

    init(challenges: [TokenChallenge], refused: SQToken?, isSignIn: Bool = false) {
      self.challenges = challenges
      self.refused = refused
      self.isSignIn = isSignIn
    }

    /// Creates the demand of a resource that refused the token of an account.
    ///
    /// After the resource refused the `sent` token, the account may have refreshed it, and the
    /// resource may have refused the new token too.
    init(after error: SQOAuthError, of module: AuthorizationModule, sent token: SQToken?) {
      let current = module.currentToken
      self.init(
        challenges: error.challenge.map { [$0] } ?? [],
        refused: current.map(error.isRefusal(of:)) == true ? current : token)
    }

    /// Returns whether a token meets the demand, so that no sign-in is needed.
    func accepts(_ token: SQToken?) -> Bool {
      guard !isSignIn, let token else { return false }
      return token.accessToken != refused?.accessToken
    }
  }

  /// Finds the server and signs in; simultaneous calls share one sign-in and its result.
  func gainAccess(_ demand: Demand) async throws(SQOAuthError) -> Access {
    let access = try await gaining.value(of: true) { () throws(SQOAuthError) in
      if let access = try await self.access(), demand.accepts(access.module.currentToken) {
        return access
      }
      return self.use(try await self.newAccess(demand))
    }
    guard let access else { throw .waitCancelled }
    return access
  }

  private func newAccess(_ demand: Demand) async throws(SQOAuthError) -> Access {
    let found = try await discovery.find(named: demand.challenges.resourceMetadata)
    if let unknown = demand.unknownClient {
      for issuer in found.metadata.authorizationServers {
        try await identification.forget(unknown, at: issuer)
      }
    }
    let server = try await server(of: found.metadata, demand.challenges)
    let id = options.accountID ?? found.metadata.resource
    let binding = try binding(demand.challenges, found.metadata)
    let configuration = configuration(
      of: server.client, binding: binding, for: found.metadata.resource)
    let account = try await account(configuration, id)
    let access = Access(module: account.module, issuer: server.issuer, client: server.client)
    // Another process may have signed in meanwhile.
    if demand.accepts(account.token) { return access }
    var signIn = SignInOptions()
    // A waiting request belongs to the account's user; in a sign-in by the app, any user may sign
    // in.
    signIn.requiresSameUser = !demand.isSignIn
    signIn.scope = scope(
      demand.challenges, found.metadata, server.metadata, server.client,
      after: account.token)
    do throws(SQOAuthError) {
      try await self.signIn(signIn, access, account, demand)
    } catch {
      guard let retry = try await forgotten(access, demand, after: error) else { throw error }
      return try await newAccess(retry)
    }
    guard !account.isKept else { return access }
    return Access(
      module: try await accounts.account(account.module.configuration ?? configuration, id: id),
      issuer: server.issuer, client: server.client)
  }

  /// Signs the user in, unless another process does so for the same new account.
  private func signIn(
    _ signIn: SignInOptions, _ access: Access, _ account: Account, _ demand: Demand
  ) async throws(SQOAuthError) {
    // Do not lock an account that has a token: other processes may use the token, and must be able
    // to refresh it.
    guard account.isKept, account.token == nil else { return try await self.signIn(signIn, access) }
    // A token from a different server may still be in memory.
    let before = account.module.currentToken
    let limit = options.signInTimeout ?? access.module.configuration?.signInTimeout
    try await account.module.alone(within: limit ?? .seconds(300)) {
      hasWaited throws(SQOAuthError) in
      _ = try? await account.module.restore()
      let found = account.module.currentToken
      guard found == before || !demand.accepts(found) else { return }
      // A user who has refused one program does not want to be asked by the next program.
      guard !hasWaited else {
        throw SQOAuthError(
          .notAuthorized,
          "another process tried to sign a user in to this account meanwhile, and brought no "
            + "token; sign in again")
      }
      try await self.signIn(signIn, access)
    }
  }

  /// Returns the demand for a second attempt; `nil` unless the server has forgotten the client of
  /// the first attempt.
  ///
  /// The client's registration is erased in this case, so that the next sign-in registers a new
  /// client.
  ///
  /// - Throws: The error of a sign-in that timed out, with the reason that the client is unknown.
  private func forgotten(
    _ access: Access, _ demand: Demand, after error: SQOAuthError
  ) async throws(SQOAuthError) -> Demand? {
    guard access.client.isKept, demand.unknownClient == nil else { return nil }
    switch error.code {
    case .invalidClient: break
    // Some servers report an unknown client only on a page, without a redirect.
    case .timedOut, .signInRefused:
      guard await access.module.isClientUnknown() else { return nil }
    default: return nil
    }
    var demand = demand
    demand.unknownClient = access.client.clientID
    guard error.code == .timedOut else { return demand }
    try await identification.forget(access.client.clientID, at: access.issuer)
    throw SQOAuthError(
      .timedOut,
      "\(error.message); the server no longer knows the program's client, so the next sign-in "
        + "registers a new one", cause: error)
  }

  /// The account for which a client signs in.
  private struct Account {
    let module: AuthorizationModule
    /// Whether the manager keeps the module; if not, the stored account belongs to a different
    /// client or server, and the sign-in replaces it.
    let isKept: Bool
    /// The account's token for the same client from the same server; `nil` if there is none.
    let token: SQToken?
  }

  /// Returns the account with an id, configured for the server.
  private func account(
    _ configuration: ClientConfiguration, _ id: String
  ) async throws(SQOAuthError) -> Account {
    if let module = accounts.module(id: id) {
      let earlier = module.configuration
      if earlier != configuration { module.register(configuration) }
      // A token from a different server or client does not count, and this server may not know its
      // scopes.
      let isSame =
        earlier?.provider == configuration.provider && earlier?.clientID == configuration.clientID
      return Account(module: module, isKept: true, token: isSame ? module.currentToken : nil)
    }
    do throws(SQOAuthError) {
      let module = try await accounts.account(configuration, id: id)
      return Account(module: module, isKept: true, token: module.currentToken)
    } catch {
      guard error.code == .invalidConfiguration else { throw error }
      return Account(
        module: accounts.module(for: configuration, id: id), isKept: false, token: nil)
    }
  }

  /// Signs the user in or, for a client that acts without a user, gets a token by its own grant.
  func signIn(_ signIn: SignInOptions, _ access: Access) async throws(SQOAuthError) {
    let attributes = access.module.attributes
    do throws(SQOAuthError) {
      try await getToken(signIn, access)
    } catch {
      // Otherwise the next refresh would store the attributes of a sign-in that failed.
      access.module.attributes = attributes
      throw error
    }
  }

  private func getToken(_ signIn: SignInOptions, _ access: Access) async throws(SQOAuthError) {
    let module = access.module
    guard let configuration = module.configuration else { return }
    setAttributes(signIn, module)
    if configuration.grantAssertionSource != nil {
      try await module.requestAccessTokenByAssertion(scope: signIn.scope)
      return
    }
    if configuration.usesClientCredentials {
      try await module.requestAccessTokenAsClient(scope: signIn.scope)
      return
    }
    if let show = options.showsCode, try await usesCode(access) {
      do throws(SQOAuthError) {
        try await module.signInWithDeviceCode(with: signIn, showing: show)
        return
      } catch {
        guard error.refusesCode, options.showsPage?(error) == true else { throw error }
      }
    }
    let end = ContinuousClock.now + options.portTimeout
    while true {
      do throws(SQOAuthError) {
        return try await signInByPage(signIn, access, configuration)
      } catch {
        // Other running sign-ins with the same client may use all of its ports.
        guard error.code == .portInUse, .now < end else { throw error }
        do { try await Task.sleep(for: .milliseconds(250)) } catch { throw .waitCancelled }
      }
    }
  }

  /// Signs in with the first redirect URI whose port is free.
  private func signInByPage(
    _ signIn: SignInOptions, _ access: Access, _ configuration: ClientConfiguration
  ) async throws(SQOAuthError) {
    let module = access.module
    for (index, uri) in access.client.redirectURIs.enumerated() {
      let isLast = index == access.client.redirectURIs.count - 1
      do throws(SQOAuthError) {
        if uri != module.configuration?.redirectURI?.string {
          module.register(try configuration.redirecting(to: uri))
          setAttributes(signIn, module)
        }
        try await module.signIn(with: signIn)
        return
      } catch {
        guard error.code == .portInUse, !isLast else { throw error }
      }
    }
    // A client without a redirect URI gets the error that says so.
    try await module.signIn(with: signIn)
  }
}

extension SQOAuthError {
  /// Whether the server refused the device authorization grant to the client; a refusal by the user
  /// does not count.
  package var refusesCode: Bool {
    [.unauthorizedClient, .unsupportedGrantType, .deviceAuthorizationUnsupported].contains(code)
  }
}
