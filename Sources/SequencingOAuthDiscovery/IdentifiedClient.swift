import SQBasics
import SQFoundation
import SequencingOAuth

/// The client of a program at one authorization server, before it is configured for a resource.
struct IdentifiedClient: Sendable {
  let clientID: String
  var clientSecret: String?
  var clientKey: ClientKey?
  var authentication: ClientAuthentication?
  /// The redirect URIs to try, in order; empty for a client that signs no users in.
  var redirectURIs: [String] = []
  /// How the server knows the client, for a person.
  let origin: String
  /// The configuration of a client that was registered by hand; `nil` for others.
  var configured: ClientConfiguration?
  /// Whether the server wants the client's requests pushed.
  var pushes = false
}

extension IdentifiedClient: Redacted {
  var description: String { "client \(clientID.printable), \(origin)" }
}

/// The choice of the program's identity at an authorization server.
struct ClientIdentification: Sendable {
  let identity: ClientIdentity
  let environment: ClientEnvironment
  let timeout: Duration

  /// Returns the client at an issuer, registered now if it must be.
  ///
  /// - Throws: ``SQOAuthError/Code/clientUnknown`` if the program cannot be a client there; the
  ///   errors of a registration.
  func client(
    at issuer: String, _ server: ProviderMetadata
  ) async throws(SQOAuthError) -> IdentifiedClient {
    if let configured = identity.client(at: issuer) { return IdentifiedClient(configured) }
    if let address = identity.documentAddress, server.acceptsClientMetadataDocuments {
      return try documented(at: address)
    }
    guard identity.metadata != nil, server.registrationEndpoint != nil else {
      throw unknown(at: issuer, server)
    }
    return IdentifiedClient(try await registered(at: issuer, server), identity.metadata)
  }

  /// Returns who the program would be at an issuer, without a request.
  func planned(
    at issuer: String, _ server: ProviderMetadata
  ) async throws(SQOAuthError) -> AccessPlan.Identity {
    if let configured = identity.client(at: issuer) { return .byHand(configured.clientID) }
    if let address = identity.documentAddress, server.acceptsClientMetadataDocuments {
      return .document(try documented(at: address).clientID)
    }
    guard identity.metadata != nil, let endpoint = server.registrationEndpoint else {
      throw unknown(at: issuer, server)
    }
    if let kept = try await kept(at: issuer) { return .registered(kept.clientID) }
    return .willRegister(endpoint.absoluteString)
  }

  /// Returns the client that an account's tokens were issued to, without a request.
  func client(at issuer: String, id: String) async throws(SQOAuthError) -> IdentifiedClient? {
    if let configured = identity.client(at: issuer), configured.clientID == id {
      return IdentifiedClient(configured)
    }
    if let address = identity.documentAddress, address == id {
      return try documented(at: address)
    }
    guard let kept = try await kept(at: issuer), kept.clientID == id else { return nil }
    return IdentifiedClient(kept, identity.metadata)
  }

  /// Forgets the registration of a client that its server no longer knows.
  func forget(_ clientID: String, at issuer: String) async throws(SQOAuthError) {
    guard try await kept(at: issuer)?.clientID == clientID else { return }
    do {
      try await identity.registrations.eraseRegistration(at: issuer)
    } catch {
      throw SQOAuthError(.storeFailed, "the registration could not be erased", cause: error)
    }
  }

  private func documented(at address: String) throws(SQOAuthError) -> IdentifiedClient {
    try ClientMetadata.checkDocumentAddress(address)
    let key = identity.metadata?.keys.first
    return IdentifiedClient(
      clientID: address, clientKey: key,
      authentication: key == nil ? .publicClient : .privateKeyJWT,
      redirectURIs: identity.metadata?.redirectURIs ?? [], origin: "a client metadata document")
  }

  private func unknown(at issuer: String, _ server: ProviderMetadata) -> SQOAuthError {
    let document =
      server.acceptsClientMetadataDocuments
      ? "it accepts a client metadata document, and the identity has no documentAddress"
      : "it accepts no client metadata documents"
    let registration =
      server.registrationEndpoint == nil
      ? "it lets no client register itself"
      : "it lets clients register themselves, and the identity has no metadata"
    return SQOAuthError(
      .clientUnknown,
      "the program is no client of the authorization server \(issuer.printable): none is registered "
        + "by hand; \(document); \(registration)")
  }

  // MARK: Registering

  private func kept(at issuer: String) async throws(SQOAuthError) -> ClientRegistration? {
    do {
      return try await identity.registrations.registration(at: issuer)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(.storeFailed, "the registration could not be read", cause: error)
    }
  }

  /// Returns the stored or a new registration; callers in one process share the same work.
  private func registered(
    at issuer: String, _ server: ProviderMetadata
  ) async throws(SQOAuthError) -> ClientRegistration {
    guard var metadata = identity.metadata else { throw unknown(at: issuer, server) }
    // A server may let a client ask for no scope beyond its registered ones.
    metadata.scope = metadata.scope ?? server.scopes?.nonEmptyList
    let described = metadata
    // A cancelled caller must not leave a client at the server that nobody knows.
    let work = { @Sendable () async throws(SQOAuthError) in
      try await uncancelled { () throws(SQOAuthError) in
        try await self.registration(of: described, at: issuer)
      }
    }
    guard let call = RegistrationCall(issuer, described, identity.registrations) else {
      return try await work()
    }
    let registration = try await RegistrationCall.underWay.value(of: call, work)
    guard let registration else { throw .waitCancelled }
    return registration
  }

  private func registration(
    of metadata: ClientMetadata, at issuer: String
  ) async throws(SQOAuthError) -> ClientRegistration {
    var metadata = metadata
    let registrar = ClientRegistrar(issuer: issuer, timeout: timeout, environment: environment)
    let asked = metadata.redirectURIs
    if let kept = try await kept(at: issuer), let ported = LoopbackPorts.uris(asked, as: kept) {
      metadata.redirectURIs = ported
      return try await registrar.registration(of: metadata, in: identity.registrations)
    }
    metadata.redirectURIs = LoopbackPorts.choose(for: asked)
    return try await first(metadata, asked, registrar)
  }

  /// Registers a client for the first time, unless another process is faster.
  ///
  /// Each process chooses ports of its own, so the processes must agree on one registration.
  private func first(
    _ metadata: ClientMetadata, _ asked: [String], _ registrar: ClientRegistrar
  ) async throws(SQOAuthError) -> ClientRegistration {
    let new = try await registrar.register(metadata)
    let standing: ClientRegistration
    do {
      let earlier = try await kept(at: new.issuer)
      standing = try await identity.registrations.save(
        new,
        replacing: earlier.flatMap { kept in
          LoopbackPorts.uris(asked, as: kept) == nil ? kept : nil
        })
    } catch {
      try? await registrar.delete(new)
      throw SQOAuthError(.storeFailed, "the registration could not be stored", cause: error)
    }
    if standing.clientID != new.clientID { try? await registrar.delete(new) }
    return standing
  }
}

extension IdentifiedClient {
  fileprivate init(_ configured: ClientConfiguration) {
    clientID = configured.clientID
    clientSecret = configured.clientSecret
    clientKey = configured.clientKey
    authentication = configured.clientAuthentication
    redirectURIs = configured.redirectURI.map { [$0.string] } ?? []
    origin = "registered by hand"
    self.configured = configured
  }

  fileprivate init(_ registration: ClientRegistration, _ metadata: ClientMetadata?) {
    clientID = registration.clientID
    clientSecret = registration.clientSecret
    clientKey = metadata?.keys.first
    authentication = registration.clientAuthentication
    redirectURIs = registration.redirectURIs
    origin = "registered by itself"
    configured = nil
    pushes = registration.members["require_pushed_authorization_requests"]?.bool == true
  }
}

extension [String] {
  /// The texts with spaces between them; `nil` for an empty list.
  fileprivate var nonEmptyList: String? { isEmpty ? nil : joined(separator: " ") }
}
