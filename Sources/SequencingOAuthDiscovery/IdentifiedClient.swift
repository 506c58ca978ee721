import SQBasics
import SQFoundation
import SequencingOAuth

/// The client of a program at one authorization server, before it is configured for a resource.
struct IdentifiedClient: Sendable, Redacted {
  /// The client's configuration, with its first redirect URI.
  let configuration: ClientConfiguration
  /// The redirect URIs to try, in order; empty for a client that signs no users in.
  let redirectURIs: [String]
  /// The scopes for which the server registered the client; `nil` if the server did not say.
  var registeredScopes: [String]?
  /// Whether an earlier sign-in registered the client; the server may have forgotten it since then.
  var isKept = false

  var clientID: String { configuration.clientID }
  var description: String { "client \(clientID.printable)" }
}

/// The choice of the program's identity at an authorization server.
struct ClientIdentification: Sendable {
  let identity: ClientIdentity
  let environment: ClientEnvironment
  let timeout: Duration
  let acceptsServersOnThisComputer: Bool
  let profile: SecurityProfile

  /// An identity that the program can have at a server.
  private enum Choice {
    case byHand(ClientConfiguration)
    case document(String)
    case registration(ClientMetadata, at: URL)
  }

  /// Returns the program's identity at an issuer: the first of its identities that fits.
  ///
  /// - Throws: `SQOAuthError.Code.clientUnknown` if the program cannot be a client there.
  private func choice(
    at issuer: String, _ server: ProviderMetadata
  ) throws(SQOAuthError) -> Choice {
    if let configured = identity.client(at: issuer) { return .byHand(configured) }
    if let address = identity.documentAddress, server.acceptsClientMetadataDocuments {
      return .document(address)
    }
    guard let metadata = identity.metadata, let endpoint = server.registrationEndpoint else {
      throw unknown(at: issuer, server)
    }
    return .registration(metadata, at: endpoint)
  }

  /// Returns the client at an issuer, and registers it first if necessary.
  ///
  /// `scopes` are the scopes of the first sign-in, and `grantType` is its grant.
  ///
  /// - Throws: `SQOAuthError.Code.clientUnknown` if the program cannot be a client there; the
  ///   errors of a registration.
  func client(
    at issuer: String, _ server: ProviderMetadata, scopes: [String], for grantType: String
  ) async throws(SQOAuthError) -> IdentifiedClient {
    switch try choice(at: issuer, server) {
    case .byHand(let configured): return byHand(configured)
    case .document(let address): return try documented(at: address, issuer)
    case .registration(var metadata, at: _):
      // A server may refuse scopes that the client is not registered for, so register all of them.
      let all = server.scopes.map { ($0 + scopes).withoutRepeats() }
      metadata.scope = metadata.scope ?? all?.nonEmptyList
      metadata.profile = metadata.profile.orStricter(profile)
      let earlier = try await identity.registrations.kept(issuer)
      let registration = try await registrar(at: issuer).registration(
        of: metadata, in: identity.registrations, options)
      guard registration.allows(grantType) else {
        throw SQOAuthError(
          .registrationMismatch,
          "the server registered the client without the grant \(grantType), which this sign-in needs"
        )
      }
      var client = try registered(registration)
      client.isKept = client.clientID == earlier?.clientID
      return client
    }
  }

  /// Returns the client that the program would use at an issuer, without registering it.
  ///
  /// If the client's identity is a registration, the configuration has a placeholder as its client
  /// ID, even if the program has registered before.
  ///
  /// - Throws: `SQOAuthError.Code.clientUnknown` if the program cannot be a client there.
  func expectedClient(
    at issuer: String, _ server: ProviderMetadata
  ) throws(SQOAuthError) -> ClientConfiguration {
    switch try choice(at: issuer, server) {
    case .byHand(let configured): return configured
    case .document(let address): return try documented(at: address, issuer).configuration
    case .registration(let metadata, at: _):
      return try following(
        ClientConfiguration(
          clientID: "not-registered-yet", clientKey: metadata.keys.first,
          redirectURI: metadata.redirectURIs.first, provider: .issuer(issuer)))
    }
  }

  /// Returns the identity that the program would use at an issuer, and the client.
  ///
  /// The client is `nil` if the program would register it. The method sends no request.
  func planned(
    at issuer: String, _ server: ProviderMetadata
  ) async throws(SQOAuthError) -> (AccessPlan.Identity, client: IdentifiedClient?) {
    switch try choice(at: issuer, server) {
    case .byHand(let configured): return (.byHand(configured.clientID), byHand(configured))
    case .document(let address):
      let client = try documented(at: address, issuer)
      return (.document(client.clientID), client)
    case .registration(_, at: let endpoint):
      guard let kept = try await identity.registrations.kept(issuer) else {
        return (.willRegister(endpoint.absoluteString), nil)
      }
      // An error does not matter: if the registration does not fit the program, for example because
      // the program has a new key, a sign-in would change the registration.
      return (.registered(kept.clientID), try? registered(kept))
    }
  }

  /// Returns the client to which an account's tokens were issued; `nil` if it is no longer known.
  ///
  /// `scope` is the scope of the tokens. The method sends no request.
  func client(
    at issuer: String, id: String, scope: String?
  ) async throws(SQOAuthError) -> IdentifiedClient? {
    if let configured = identity.client(at: issuer), configured.clientID == id {
      return byHand(configured)
    }
    if let address = identity.documentAddress, address == id {
      return try documented(at: address, issuer, scope: scope)
    }
    guard let kept = try await identity.registrations.kept(issuer), kept.clientID == id else {
      return nil
    }
    return try registered(kept, scope: scope)
  }

  /// What has become of a client whose credentials its server has refused.
  enum Renewal: Sendable {
    /// The client has other credentials now.
    case renewed(IdentifiedClient)
    /// The server still knows the client, and with the same credentials.
    case unchanged
    /// The server no longer knows the client, or does not let it renew itself.
    case ended
  }

  /// Renews a client whose credentials its server has refused, with the same client ID.
  ///
  /// If another process has renewed the client already, no request is sent.
  ///
  /// - Throws: `refusal` if the server or the store is in trouble; the registration stays, because
  ///   a later renewal may succeed.
  func renewal(
    of refused: ClientConfiguration, at issuer: String, after refusal: SQOAuthError
  ) async throws(SQOAuthError) -> Renewal {
    do throws(SQOAuthError) {
      return try await renewal(of: refused, at: issuer)
    } catch {
      // Any other error would come again, so the next sign-in decides about the client.
      guard error.isOutage || error.code == .storeFailed || Task.isCancelled else {
        return .unchanged
      }
      throw refusal
    }
  }

  private func renewal(
    of refused: ClientConfiguration, at issuer: String
  ) async throws(SQOAuthError) -> Renewal {
    guard var metadata = identity.metadata,
      let kept = try await identity.registrations.kept(issuer), kept.clientID == refused.clientID
    else { return .ended }
    guard kept.clientSecret == refused.clientSecret,
      kept.clientAuthentication == refused.clientAuthentication
    else { return .renewed(try registered(kept)) }
    guard kept.isManageable else { return .ended }
    metadata.profile = metadata.profile.orStricter(profile)
    let renewed = try await registrar(at: issuer).renewed(
      kept, as: metadata, in: identity.registrations, options)
    guard let renewed, renewed.clientID == kept.clientID else { return .ended }
    return renewed.hasCredentials(of: kept) ? .unchanged : .renewed(try registered(renewed))
  }

  private func registrar(at issuer: String) -> ClientRegistrar {
    var registrar = ClientRegistrar(issuer: issuer, timeout: timeout, environment: environment)
    registrar.acceptsServersOnThisComputer = acceptsServersOnThisComputer
    return registrar
  }

  private var options: RegistrationOptions {
    var options = RegistrationOptions()
    (options.fixesPorts, options.verifies, options.keepsScopes) = (true, true, true)
    return options
  }

  /// Forgets the registration of a client that its server no longer knows.
  func forget(_ clientID: String, at issuer: String) async throws(SQOAuthError) {
    guard try await identity.registrations.kept(issuer)?.clientID == clientID else { return }
    do {
      try await identity.registrations.eraseRegistration(at: issuer)
    } catch {
      throw SQOAuthError(.storeFailed, "the registration could not be erased", cause: error)
    }
  }

  // MARK: Clients

  private func byHand(_ configured: ClientConfiguration) -> IdentifiedClient {
    var configuration = configured
    // The scopes may be meant for another API.
    configuration.scope = nil
    configuration.requiredScopes = []
    return IdentifiedClient(
      configuration: configuration,
      redirectURIs: configured.redirectURI.map { [$0.string] } ?? [])
  }

  /// Returns a configuration with the profile of the program's metadata.
  private func following(_ configuration: ClientConfiguration) -> ClientConfiguration {
    var configuration = configuration
    configuration.profile = identity.metadata?.profile ?? .standard
    return configuration
  }

  private func documented(
    at address: String, _ issuer: String, scope: String? = nil
  ) throws(SQOAuthError) -> IdentifiedClient {
    try ClientMetadata.checkDocumentAddress(address)
    let key = identity.metadata?.keys.first
    let redirectURIs = identity.metadata?.redirectURIs ?? []
    return IdentifiedClient(
      configuration: try following(
        ClientConfiguration(
          clientID: address, clientKey: key, redirectURI: redirectURIs.first, scope: scope,
          provider: .issuer(issuer),
          clientAuthentication: key == nil ? .publicClient : .privateKeyJWT)),
      redirectURIs: redirectURIs)
  }

  private func registered(
    _ registration: ClientRegistration, scope: String? = nil
  ) throws(SQOAuthError) -> IdentifiedClient {
    let redirectURIs = LoopbackPorts.usable(registration.redirectURIs)
    // With an empty scope, a sign-in asks for its resource's scopes, not for all registered scopes.
    let configuration = try following(
      registration.configuration(scope: scope ?? "", clientKey: identity.metadata?.keys.first))
    var client = IdentifiedClient(
      configuration: try redirectURIs.first.map(configuration.redirecting) ?? configuration,
      redirectURIs: redirectURIs)
    client.registeredScopes = registration.scope.flatMap { $0.words.isEmpty ? nil : $0.words }
    return client
  }

  private func unknown(at issuer: String, _ server: ProviderMetadata) -> SQOAuthError {
    let document =
      server.acceptsClientMetadataDocuments
      ? "the server accepts a client metadata document, and the identity has no documentAddress"
      : "the server accepts no client metadata documents"
    let registration =
      server.registrationEndpoint == nil
      ? "the server lets no client register itself"
      : "the server lets clients register themselves, and the identity has no metadata"
    return SQOAuthError(
      .clientUnknown,
      "the program is not a client of the authorization server \(issuer.printable): the identity "
        + "has no client that was registered there by hand; \(document); \(registration)")
  }
}

extension [String] {
  /// The texts, joined with spaces; `nil` for an empty list.
  fileprivate var nonEmptyList: String? { isEmpty ? nil : joined(separator: " ") }
}
