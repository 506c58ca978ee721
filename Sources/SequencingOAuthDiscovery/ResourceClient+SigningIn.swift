import SQBasics
public import SequencingOAuth

// Finding the server of the resource, and signing the user in there.
extension ResourceClient {
  /// Signs the user in for the resource, or joins a sign-in under way; opens a browser, or shows a
  /// code if ``Options/showsCode`` is set.
  ///
  /// It asks the resource anew which authorization server it trusts. If that is not the one of the
  /// stored account, the program becomes a client of the new one, and nothing of the old one is sent
  /// there.
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
    /// The token that the resource refused; `nil` if it got none.
    let refused: SQToken?
    /// Whether the app asked for a sign-in, even if there is a token.
    var isSignIn = false
    /// The client that the authorization server no longer knows; `nil` if it is known.
    var unknownClient: String?

    init(challenges: [TokenChallenge], refused: SQToken?, isSignIn: Bool = false) {
      self.challenges = challenges
      self.refused = refused
      self.isSignIn = isSignIn
    }

    /// Creates the demand of a resource that refused the token of an account.
    ///
    /// The account may have refreshed the token that was `sent`, and the resource refused that one
    /// too.
    init(after error: SQOAuthError, of module: AuthorizationModule, sent token: SQToken?) {
      let current = module.currentToken
      self.init(
        challenges: error.challenge.map { [$0] } ?? [],
        refused: current.map(error.isRefusal(of:)) == true ? current : token)
    }

    /// Returns whether a token may serve instead of a new one.
    func accepts(_ token: SQToken?) -> Bool {
      guard !isSignIn, let token else { return false }
      return token.accessToken != refused?.accessToken
    }
  }

  /// Finds the server and signs in; callers that come meanwhile get the same result.
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
    let server = try await server(of: found.metadata)
    let id = options.accountID ?? found.metadata.resource
    let binding = try binding(demand.challenges, found.metadata)
    let configuration = configuration(
      of: server.client, binding: binding, for: found.metadata.resource)
    let account = try await account(configuration, id)
    let access = Access(module: account.module, issuer: server.issuer, client: server.client)
    // Another process may have signed in meanwhile.
    if demand.accepts(account.token) { return access }
    var signIn = SignInOptions()
    signIn.scope = scope(
      demand.challenges, found.metadata, server.metadata, server.client.configuration,
      after: account.token)
    try await self.signIn(signIn, access)
    guard !account.isKept else { return access }
    return Access(
      module: try await accounts.account(account.module.configuration ?? configuration, id: id),
      issuer: server.issuer, client: server.client)
  }

  /// The account for which a client signs in.
  private struct Account {
    let module: AuthorizationModule
    /// Whether the manager keeps the module; if not, the stored account is of another client or
    /// server, and the sign-in replaces it.
    let isKept: Bool
    /// The token that the same client has of the same server.
    let token: SQToken?
  }

  /// Returns the account with an id, configured for the server.
  private func account(
    _ configuration: ClientConfiguration, _ id: String
  ) async throws(SQOAuthError) -> Account {
    if let module = accounts.module(id: id) {
      let earlier = module.configuration
      if earlier != configuration { module.register(configuration) }
      // A token of another server says nothing here, and its scopes may not be asked for here.
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

  /// Signs in with the first redirect URI whose port is free.
  func signIn(_ signIn: SignInOptions, _ access: Access) async throws(SQOAuthError) {
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
      try await module.signInWithDeviceCode(with: signIn, showing: show)
      return
    }
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

// MARK: - The server

extension ResourceClient {
  /// An authorization server at which the program is a client.
  struct Server: Sendable {
    let issuer: String
    let metadata: ProviderMetadata
    let client: IdentifiedClient
  }

  /// Returns the authorization server to use: the chosen one, or the first that can be used.
  func server(of resource: ProtectedResourceMetadata) async throws(SQOAuthError) -> Server {
    let issuers = resource.authorizationServers
    if let choose = options.choosesServer {
      guard let chosen = await choose(issuers), issuers.contains(chosen) else {
        throw SQOAuthError(
          .clientUnknown, "the program chose none of the authorization servers of the resource")
      }
      return try await server(chosen)
    }
    var firstError: SQOAuthError?
    for issuer in preferred(issuers) {
      do throws(SQOAuthError) {
        return try await server(issuer)
      } catch {
        guard error.code != .cancelled else { throw error }
        firstError = firstError ?? error
      }
    }
    throw firstError
      ?? SQOAuthError(.resourceMetadataInvalid, "the resource names no authorization server")
  }

  /// Returns the issuers in the order in which they are tried.
  ///
  /// The one to which the program's credentials belong comes first (RFC 9728, section 7.6).
  func preferred(_ issuers: [String]) -> [String] {
    let byHand = issuers.filter { identity.client(at: $0) != nil }
    return byHand + issuers.filter { !byHand.contains($0) }
  }

  func metadata(of issuer: String) async throws(SQOAuthError) -> ProviderMetadata {
    try await environment.providerMetadata(
      of: issuer, timeout: options.timeout,
      insertsWellKnownFirst: options.profile.insertsWellKnownFirst)
  }

  private func server(_ issuer: String) async throws(SQOAuthError) -> Server {
    let metadata = try await metadata(of: issuer)
    // A sign-in that cannot take place needs no registration.
    _ = try await options.usesCode?(issuer, metadata)
    return Server(
      issuer: issuer, metadata: metadata,
      client: try await identification.client(at: issuer, metadata))
  }

  /// Returns the scopes of a sign-in: the app's, the challenge's or the resource's, with those that the
  /// account had; `nil` for the server's default.
  ///
  /// - SeeAlso: RFC 6750, section 3; Model Context Protocol, Authorization
  func scope(
    _ challenges: [TokenChallenge], _ resource: ProtectedResourceMetadata,
    _ server: ProviderMetadata?, _ configured: ClientConfiguration?, after token: SQToken?
  ) -> String? {
    let asked =
      options.scope ?? challenges.mostInformative?.scope ?? resource.scopes?.joined(separator: " ")
      ?? configured?.scope
    var scopes = (asked ?? "").words
    scopes += (token?.scopes ?? []).filter { !scopes.contains($0) }
    guard !scopes.isEmpty else { return nil }
    let isMachine =
      configured?.usesClientCredentials == true || configured?.grantAssertionSource != nil
    let offline = "offline_access"
    if !isMachine, server?.scopes?.contains(offline) == true, !scopes.contains(offline) {
      scopes.append(offline)
    }
    return scopes.joined(separator: " ")
  }

  /// Returns the binding of the tokens: the app's or, if the resource accepts only bound tokens, a key.
  ///
  /// - Throws: `SQOAuthError.Code.signInUnsupported` if the resource accepts no algorithm of the SDK.
  func binding(
    _ challenges: [TokenChallenge], _ resource: ProtectedResourceMetadata
  ) throws(SQOAuthError) -> TokenBinding? {
    if let binding = options.tokenBinding { return binding }
    let asksForProof = challenges.filter(\.asksForProof)
    guard resource.requiresProof || !challenges.isEmpty && asksForProof.count == challenges.count
    else { return nil }
    let listed = resource.proofAlgorithms ?? asksForProof.first?.proofAlgorithms ?? []
    guard !listed.isEmpty else { return .dpop() }
    let possible: [JWSAlgorithm] = [.es256, .edDSA, .ps256]
    guard let algorithm = possible.first(where: JWSAlgorithm.all(in: listed).contains) else {
      throw SQOAuthError(
        .signInUnsupported,
        "the resource accepts no proof with an algorithm of this SDK "
          + "(dpop_signing_alg_values_supported)")
    }
    return .dpop(algorithm: algorithm)
  }
}
