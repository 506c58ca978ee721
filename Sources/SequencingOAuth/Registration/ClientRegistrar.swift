public import SQBasics
import SQFoundation

/// A type that registers and manages a client at a server with dynamic client registration.
///
/// A registrar may be used on any thread and in any task. Each request ends after at most
/// `timeout`.
///
/// - SeeAlso: RFC 7591; RFC 7592
public struct ClientRegistrar: Sendable {
  let issuer: String
  let initialAccessToken: String?
  let timeout: Duration
  let environment: ClientEnvironment
  /// Whether the server, and the addresses that it names, may be on this computer: `true` by
  /// default.
  ///
  /// It has the meaning of ``ClientConfiguration/acceptsServersOnThisComputer``.
  public var acceptsServersOnThisComputer = true

  /// Creates the registrar of a server, without sending a request.
  ///
  /// `initialAccessToken` is a token that some servers give to developers, to restrict who can
  /// register. `timeout` is the time limit of each request.
  public init(
    issuer: String, initialAccessToken: String? = nil, timeout: Duration = .seconds(30),
    environment: ClientEnvironment = ClientEnvironment()
  ) {
    self.issuer = issuer
    self.initialAccessToken = initialAccessToken
    self.timeout = timeout
    self.environment = environment
  }

  // MARK: Registering

  /// Registers a new client with each call.
  ///
  /// If the caller's task is cancelled after the request was sent, the call continues and returns
  /// the registration, without which the client could be neither used nor deleted.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/registrationUnsupported`` if the server does
  ///   not let clients register themselves; ``SQOAuthError/Code/registrationMismatch`` if the
  ///   server registered a different client (it is deleted if the server allows that); the server's
  ///   error, such as ``SQOAuthError/Code/invalidRedirectURI`` or
  ///   ``SQOAuthError/Code/invalidClientMetadata``.
  /// - SeeAlso: RFC 7591, section 3
  public func register(
    _ metadata: ClientMetadata
  ) async throws(SQOAuthError) -> ClientRegistration {
    try metadata.check()
    let server = try await serverMetadata()
    guard let endpoint = try server.address(of: .registration) else {
      throw SQOAuthError(
        .registrationUnsupported,
        "the server does not let clients register themselves; register your app in the way that "
          + "the server's documentation describes")
    }
    let chosen = metadata.choosingGrants(at: server).choosingSignatures(at: server)
      .choosingAuthentication(supported: server.clientAuthenticationMethods)
    let request = try self.request(
      "POST", endpoint, token: initialAccessToken,
      members: chosen.members(listed: server.clientAssertionAlgorithms))
    return try await uncancelledOnceSent { () throws(SQOAuthError) in
      try await registration(by: request, at: endpoint, of: chosen, asked: metadata)
    }
  }

  /// Sends a registration request, and returns the registration; an unusable one is deleted.
  private func registration(
    by request: WebRequest, at endpoint: URL, of chosen: ClientMetadata,
    asked metadata: ClientMetadata
  ) async throws(SQOAuthError) -> ClientRegistration {
    let reader = reader(at: endpoint, hiding: [initialAccessToken])
    let response = try await environment.exchange(request, for: .registration)
    do throws(SQOAuthError) {
      var registration = try reader.registration(
        in: try reader.members(of: response), for: chosen)
      registration.askedGrants = metadata.grantTypes
      // If the app names no authentication method, it accepts the server's choice.
      try registration.check(against: metadata)
      guard registration.isUsable(at: environment.clock.now, reserve: 0) else {
        throw SQOAuthError(
          .registrationMismatch,
          "the server registered the client with a secret that has expired "
            + "(client_secret_expires_at), so it cannot be used")
      }
      return registration
    } catch {
      // An unusable client must not remain at the server, because each attempt would add another
      // one.
      if let management = reader.management(ofRefused: response) { try? await end(management) }
      throw error
    }
  }

  /// Returns the server's metadata, fetched if it is unknown.
  func serverMetadata() async throws(SQOAuthError) -> ProviderMetadata {
    try await environment.providerMetadata(
      of: issuer, timeout: timeout, acceptsServersOnThisComputer: acceptsServersOnThisComputer)
  }

  // MARK: Requests

  /// Makes an exchange whose response must not be lost, because the server gives it only once.
  ///
  /// A task that is already cancelled sends nothing. A later cancellation has no effect, so the
  /// call lasts until the time limit of the request at most.
  func uncancelledOnceSent(
    _ exchange: @escaping @Sendable () async throws(SQOAuthError) -> ClientRegistration
  ) async throws(SQOAuthError) -> ClientRegistration {
    guard !Task.isCancelled else { throw .waitCancelled }
    return try await uncancelled(exchange)
  }

  func request(
    _ method: String, _ url: URL, token: String?, members: [String: JSONValue]?
  ) throws(SQOAuthError) -> WebRequest {
    // The server chooses the address of a registration, so the address must be checked.
    if !acceptsServersOnThisComputer {
      try ProviderMetadata.checkIsElsewhere(url, of: issuer)
    }
    var request = WebRequest(
      method: method, url: url, headers: ["Accept": "application/json"])
    if let token { request.headers["Authorization"] = "Bearer \(token)" }
    if let members {
      request.headers["Content-Type"] = "application/json"
      request.body = .bytes(try JSONValue.object(members).json("the client's metadata"))
    }
    request.timeout = timeout
    return request
  }

  /// Creates the reader of responses from an address.
  func reader(at address: URL, hiding secrets: [String?]) -> RegistrationResponse {
    RegistrationResponse(
      issuer: issuer, secrets: SentSecrets(secrets.compactMap(\.self)),
      now: environment.clock.now, address: address)
  }
}

extension ClientRegistrar: Redacted {
  /// The server, without the initial access token.
  public var description: String { "registrar of clients at \(issuer.printable)" }
}
