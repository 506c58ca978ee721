import SQBasics
public import SequencingOAuth

// Signing the user in at the server of the resource.
extension ResourceClient {
  /// Signs the user in for the resource, or joins a running sign-in; opens a browser, or shows a
  /// code if ``Options/showsCode`` is set.
  ///
  /// The client asks the resource again which authorization server it trusts. If the stored account
  /// belongs to a different server, the program becomes a client of the new server, and sends it
  /// nothing that belongs to the old server. If the sign-in fails, the account keeps its token and
  /// its client.
  ///
  /// Any user may sign in. A sign-in for a waiting request is open to that request's user only; if
  /// it fails because another user came, this call starts a sign-in of its own.
  ///
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.resourceMetadataInvalid`,
  ///   `SQOAuthError.Code.clientUnknown`; `SQOAuthError.Code.duplicateName` if the account is for a
  ///   different resource; the errors of a registration and of a sign-in.
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> AuthorizationModule {
    try await gainAccess(.signIn).access.module
  }

  /// Finds the server of the resource and signs the user in there, unless another process has done
  /// so; returns whether a user signed in.
  func newAccess(
    _ demand: Demand
  ) async throws(SQOAuthError) -> (Access, hasSignedIn: Bool) {
    let found = try await discovery.find(named: demand.challenges.resourceMetadata)
    if let unknown = demand.unknownClient {
      for issuer in found.metadata.authorizationServers {
        try await identification.forget(unknown, at: issuer)
      }
    }
    let server = try await server(of: found.metadata, demand.challenges)
    let id = options.accountID ?? found.metadata.resource
    let earlier = known.flatMap { $0.issuer == server.issuer ? $0.binding : nil }
    let binding = try binding(
      demand.challenges, found.metadata, of: server.client, after: earlier)
    let configuration = configuration(
      of: server.client, binding: binding, for: found.metadata.resource)
    let account = try await account(configuration, id)
    let access = Access(module: account.module, issuer: server.issuer, client: server.client)
    if demand.accepts(account.token) {
      // Another client of this account may have signed in meanwhile, perhaps as another user.
      try checkOwner(of: demand, account.module)
      return (access, false)
    }
    var signIn = SignInOptions()
    demand.requireUser(
      in: &signIn, at: server.issuer, try checkOwner(of: demand, account.module))
    signIn.scope = scope(
      demand.challenges, found.metadata, server.metadata, server.client,
      after: account.token)
    if !configuration.namesPermissions {
      signIn.authorizationDetails = account.token?.authorizationDetails ?? []
    }
    return try await restoringOnFailure(account.module) { () throws(SQOAuthError) in
      register(configuration, in: account.module)
      do throws(SQOAuthError) {
        try await self.signIn(signIn, access, configuration, account, demand)
      } catch {
        guard let retry = try await forgotten(access, demand, after: error) else { throw error }
        return try await newAccess(retry)
      }
      guard !account.isKept else { return (access, true) }
      return (
        Access(
          module: try await accounts.account(
            account.module.configuration ?? configuration, id: id),
          issuer: server.issuer, client: server.client), true
      )
    }
  }

  /// Signs the user in, unless another process does so for the same new account.
  private func signIn(
    _ signIn: SignInOptions, _ access: Access, _ configuration: ClientConfiguration,
    _ account: Account, _ demand: Demand
  ) async throws(SQOAuthError) {
    // Do not lock an account that has a token: other processes may use the token, and must be able
    // to refresh it.
    guard account.isKept, account.token == nil else {
      return try await self.signIn(signIn, access, configuration, demand)
    }
    // A token from a different server may still be in memory.
    let before = account.module.currentToken
    let limit = options.signInTimeout ?? access.module.configuration?.signInTimeout
    try await account.module.alone(within: limit ?? .seconds(300)) {
      hasWaited throws(SQOAuthError) in
      _ = try? await account.module.restore()
      // A store reads nothing for a cancelled task, so it may have the other process's token.
      guard !Task.isCancelled else { throw .waitCancelled }
      let found = account.module.currentToken
      let isMet = demand.kind == .signIn ? hasWaited && found != nil : demand.accepts(found)
      guard found == before || !isMet else {
        try checkOwner(of: demand, account.module)
        return
      }
      // A user who has refused one program does not want to be asked by the next program.
      guard !hasWaited else {
        throw SQOAuthError(
          .notAuthorized,
          "another process tried to sign a user in to this account meanwhile, and brought no "
            + "token; sign in again")
      }
      try await self.signIn(signIn, access, configuration, demand)
    }
  }

  /// Returns the demand for another attempt; `nil` unless the server has refused the client of the
  /// first attempt.
  ///
  /// If the client has other credentials now, the next attempt uses them. Otherwise the server has
  /// forgotten the client, and its registration is erased, so that the next attempt registers a new
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
    if !demand.hasRenewedClient,
      case .renewed = try await identification.renewal(
        of: access.client.configuration, at: access.issuer, after: error)
    {
      demand.hasRenewedClient = true
      // The wrong credentials have not caused any other error, so the user is not asked again.
      return error.code == .invalidClient ? demand : nil
    }
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

  /// Returns the account with an id; its module keeps its own configuration.
  private func account(
    _ configuration: ClientConfiguration, _ id: String
  ) async throws(SQOAuthError) -> Account {
    if let module = try keptModule(id) {
      // A token from a different server or client does not count, and this server may not know its
      // scopes.
      let record = module.session.record
      let isSame = record?.wasIssued(to: configuration) == true
      return Account(module: module, isKept: true, token: isSame ? record?.token : nil)
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

  /// Makes a module act as a client of this resource.
  private func register(_ configuration: ClientConfiguration, in module: AuthorizationModule) {
    registered.change { $0 = configuration }
    if module.configuration != configuration { module.register(configuration) }
  }

  /// Runs a sign-in; if it fails, the account's client and attributes become what they were.
  ///
  /// Otherwise the client of the earlier sign-in could not refresh its token any more, and the next
  /// refresh would store the attributes of a sign-in that failed. A client that the app registers
  /// meanwhile stays.
  func restoringOnFailure<Value>(
    _ module: AuthorizationModule, _ signIn: () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let (earlier, attributes) = (module.configuration, module.context.savedAttributes)
    do throws(SQOAuthError) {
      return try await signIn()
    } catch {
      module.context.restoreAttributes(attributes, of: module.session.record)
      // Another process may have signed in as the new client meanwhile.
      if let earlier, module.configuration == registered.withLock(\.self),
        module.session.record?.wasIssued(to: earlier) != false
      {
        register(earlier, in: module)
      }
      throw error
    }
  }

  /// Signs the user in or, for a client that acts without a user, gets a token by its own grant.
  ///
  /// - Throws: The error of the waiting request if the account has changed hands meanwhile.
  func signIn(
    _ signIn: SignInOptions, _ access: Access, _ configuration: ClientConfiguration,
    _ demand: Demand
  ) async throws(SQOAuthError) {
    var signIn = signIn
    let owner = try checkOwner(of: demand, access.module)
    if signIn.requiresSameUser { signIn.series = owner.owner.series }
    let asserted = signIn.requiresSameUser ? owner.assertedUser : nil
    _ = try await token(signIn, access, configuration, asserted)
  }

  /// Gets a token; with `asserted`, an assertion must name this user.
  private func token(
    _ signIn: SignInOptions, _ access: Access, _ configuration: ClientConfiguration,
    _ asserted: String?
  ) async throws(SQOAuthError) -> SQToken {
    let module = access.module
    register(configuration, in: module)
    setAttributes(signIn, module)
    if configuration.grantAssertionSource != nil {
      return try await module.requestAccessTokenByAssertion(scope: signIn.scope, of: asserted)
    }
    if configuration.usesClientCredentials {
      return try await module.requestAccessTokenAsClient(scope: signIn.scope)
    }
    if let show = options.showsCode, try await usesCode(access) {
      do throws(SQOAuthError) {
        return try await module.signInWithDeviceCode(with: signIn, showing: show)
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
  ) async throws(SQOAuthError) -> SQToken {
    let module = access.module
    for (index, uri) in access.client.redirectURIs.enumerated() {
      let isLast = index == access.client.redirectURIs.count - 1
      do throws(SQOAuthError) {
        if uri != module.configuration?.redirectURI?.string {
          register(try configuration.redirecting(to: uri), in: module)
          setAttributes(signIn, module)
        }
        return try await module.signIn(with: signIn)
      } catch {
        guard error.code == .portInUse, !isLast else { throw error }
      }
    }
    // A client without a redirect URI gets the error that says so.
    return try await module.signIn(with: signIn)
  }
}

extension SQOAuthError {
  /// Whether the server refused the device authorization grant to the client; a refusal by the user
  /// does not count.
  package var refusesCode: Bool {
    [.unauthorizedClient, .unsupportedGrantType, .deviceAuthorizationUnsupported].contains(code)
  }
}
