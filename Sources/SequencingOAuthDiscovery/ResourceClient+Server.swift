import SQBasics
import SequencingOAuth

// The authorization server of the resource, and what a sign-in there asks for.
extension ResourceClient {
  /// An authorization server at which the program is a client.
  struct Server: Sendable {
    let issuer: String
    let metadata: ProviderMetadata
    let client: IdentifiedClient
  }

  /// Returns the authorization server that the app chooses, or by default the first usable server.
  func server(
    of resource: ProtectedResourceMetadata, _ challenges: [TokenChallenge]
  ) async throws(SQOAuthError) -> Server {
    let scopes = askedScopes(challenges, resource)
    let candidates = try await candidates(of: resource)
    var firstError: SQOAuthError?
    let end = ContinuousClock.now + options.timeout.bounded
    // All servers share one time limit, so that a long list of silent servers does not take the sum
    // of their limits. Each server gets only a part of the time that is left.
    for (index, issuer) in candidates.enumerated() where firstError == nil || .now < end {
      let left = candidates.count - index
      do throws(SQOAuthError) {
        return try await server(
          issuer, scopes,
          within: candidates.count == 1 ? options.timeout : (end - .now) / min(left, 3))
      } catch {
        guard error.code != .cancelled else { throw error }
        firstError = firstError ?? error
      }
    }
    throw firstError
      ?? SQOAuthError(.resourceMetadataInvalid, "the resource names no authorization server")
  }

  /// Returns the issuers in the order in which to try them: only the program's choice, or all.
  ///
  /// The issuer of a client that was registered by hand comes first (RFC 9728, section 7.6).
  func candidates(
    of resource: ProtectedResourceMetadata
  ) async throws(SQOAuthError) -> [String] {
    let issuers = resource.authorizationServers
    if let choose = options.choosesServer {
      // The closure may not notice the cancellation of its task.
      let choice = OneShot<String?>()
      let choosing = Task { choice.resolve(await choose(issuers)) }
      defer { choosing.cancel() }
      guard let answer = await choice.value() else { throw .waitCancelled }
      guard let chosen = answer, issuers.contains(chosen) else {
        throw SQOAuthError(
          .clientUnknown, "the program chose none of the authorization servers of the resource")
      }
      return [chosen]
    }
    let byHand = issuers.filter { identity.client(at: $0) != nil }
    return byHand + issuers.filter { !byHand.contains($0) }
  }

  func metadata(
    of issuer: String, within limit: Duration? = nil
  ) async throws(SQOAuthError) -> ProviderMetadata {
    try await environment.providerMetadata(
      of: issuer, timeout: limit ?? options.timeout,
      insertsWellKnownFirst: options.profile.insertsWellKnownFirst,
      acceptsServersOnThisComputer: resource.isLocal)
  }

  private func server(
    _ issuer: String, _ scopes: [String], within limit: Duration? = nil
  ) async throws(SQOAuthError) -> Server {
    let metadata = try await metadata(of: issuer, within: limit)
    // This check comes first, because a sign-in that is not possible must not cause a registration.
    let usesCode = try await options.usesCode?(issuer, metadata) ?? (options.showsCode != nil)
    try check(metadata, of: issuer, forCode: usesCode)
    return Server(
      issuer: issuer, metadata: metadata,
      client: try await identification.client(
        at: issuer, metadata, scopes: scopes,
        for: usesCode && options.showsPage == nil
          ? DeviceAuthorization.grantType : "authorization_code"))
  }

  /// Throws if a server's metadata says that the program cannot sign in there.
  ///
  /// With `forCode`, it checks the sign-in with a code on another device; otherwise, the sign-in
  /// with a page.
  func check(
    _ metadata: ProviderMetadata, of issuer: String, forCode: Bool
  ) throws(SQOAuthError) {
    var client = try identification.expectedClient(at: issuer, metadata)
    guard !client.usesClientCredentials, client.grantAssertionSource == nil else { return }
    guard !forCode else {
      guard try metadata.address(of: .deviceAuthorization) != nil else {
        throw SQOAuthError(
          .deviceAuthorizationUnsupported,
          "the server has no device authorization endpoint (device_authorization_endpoint), so no "
            + "user can sign in with a code")
      }
      return
    }
    client.profile = client.profile.orStricter(options.profile)
    if let binding = options.tokenBinding { client.tokenBinding = binding }
    try PreparedCodeGrant.check(client, at: metadata, in: environment)
  }

  /// Returns the scopes to ask for: the app's, otherwise the challenge's, otherwise the resource's,
  /// otherwise those with which the program describes its client, plus the scopes of the account's
  /// `token`; `nil` for the server's default.
  ///
  /// - SeeAlso: RFC 6750, section 3; Model Context Protocol, Authorization
  func scope(
    _ challenges: [TokenChallenge], _ resource: ProtectedResourceMetadata,
    _ server: ProviderMetadata?, _ client: IdentifiedClient?, after token: SQToken?
  ) -> String? {
    var scopes = askedScopes(challenges, resource)
    if options.scope == nil, let registered = client?.registeredScopes {
      // The server would refuse a scope for which it did not register the client.
      scopes = scopes.filter(registered.contains)
    }
    if scopes.isEmpty, options.scope == nil {
      scopes = (client?.configuration.scope ?? "").words
    }
    scopes += (token?.scopes ?? []).filter { !scopes.contains($0) }
    guard !scopes.isEmpty else { return nil }
    return addingOffline(to: scopes, server, client).joined(separator: " ")
  }

  /// Returns the scopes of a user's sign-in, plus `offline_access` if the server lists it and the
  /// client's registration allows it.
  func addingOffline(
    to scopes: [String], _ server: ProviderMetadata?, _ client: IdentifiedClient?
  ) -> [String] {
    let offline = "offline_access"
    let configured = client?.configuration
    let isMachine =
      configured?.usesClientCredentials == true || configured?.grantAssertionSource != nil
    guard !isMachine, !scopes.contains(offline), server?.scopes?.contains(offline) == true,
      client?.registeredScopes?.contains(offline) != false
    else { return scopes }
    return scopes + [offline]
  }

  /// Returns the scopes of the app, the challenge or the resource; empty if none of them names any.
  private func askedScopes(
    _ challenges: [TokenChallenge], _ resource: ProtectedResourceMetadata
  ) -> [String] {
    (options.scope ?? challenges.mostInformative?.scope)?.words ?? resource.scopes ?? []
  }

  /// Returns how the tokens are bound: as the app has configured, otherwise to a key (DPoP) if the
  /// resource accepts only bound tokens.
  ///
  /// If neither the challenges nor the metadata say so, the binding is that of the `earlier` tokens:
  /// a resource may demand proofs only by its challenges.
  ///
  /// - Throws: `SQOAuthError.Code.signInUnsupported` if the resource accepts none of the SDK's
  ///   algorithms for proofs.
  func binding(
    _ challenges: [TokenChallenge], _ resource: ProtectedResourceMetadata,
    of client: IdentifiedClient?, after earlier: TokenBinding? = nil
  ) throws(SQOAuthError) -> TokenBinding? {
    if let binding = chosenBinding(client) { return binding }
    let asksForProof = challenges.filter(\.asksForProof)
    guard resource.requiresProof || !challenges.isEmpty && asksForProof.count == challenges.count
    else { return challenges.isEmpty ? earlier : nil }
    let listed = resource.proofAlgorithms ?? asksForProof.first?.proofAlgorithms ?? []
    guard !listed.isEmpty else { return .dpop() }
    let possible: [JWSAlgorithm] = [.es256, .edDSA, .ps256]
    guard let algorithm = possible.first(where: JWSAlgorithm.all(in: listed).contains) else {
      throw SQOAuthError(
        .signInUnsupported,
        "the resource lists none of ES256, EdDSA and PS256 for proofs "
          + "(dpop_signing_alg_values_supported, or algs in its challenge)")
    }
    return .dpop(algorithm: algorithm)
  }

  /// Returns the binding that the app has chosen, for all tokens or for a client's; `nil` if it left
  /// the choice to the resource.
  func chosenBinding(_ client: IdentifiedClient?) -> TokenBinding? {
    let own = client?.configuration.tokenBinding
    return options.tokenBinding ?? (own == .dpop() ? nil : own)
  }
}
