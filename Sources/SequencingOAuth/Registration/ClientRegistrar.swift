public import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Registers a client at a server that lets clients register themselves, and manages it there.
///
/// Any thread or task may use one registrar. Each request takes at most the `timeout`.
///
/// - SeeAlso: RFC 7591; RFC 7592
public struct ClientRegistrar: Sendable {
  private let issuer: String
  private let initialAccessToken: String?
  private let timeout: Duration
  private let environment: ClientEnvironment

  /// Makes the registrar of a server; no request is made.
  ///
  /// `initialAccessToken` is what some servers hand out to developers, so that not all may
  /// register.
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

  /// The kept registration of the client, or a new one, which is kept.
  ///
  /// A kept registration counts if it has the redirect URIs and the way of authentication of
  /// `metadata`, and if its secret does not end within the hour. Processes that do this at once may
  /// each register a client; the last one stays in the store.
  ///
  /// - Throws: ``SQOAuthError``: see ``register(_:)``; the error of the store. If the new
  ///   registration cannot be kept, it is deleted again at a server that lets clients do so.
  public func registration(
    of metadata: ClientMetadata, in store: any RegistrationStore
  ) async throws(SQOAuthError) -> ClientRegistration {
    if let kept = try await store.kept(issuer), kept.isUsable(at: environment.clock.now),
      (try? RegistrationResponse.check(kept, against: metadata)) != nil
    {
      return kept
    }
    let registration = try await register(metadata)
    do throws(SQOAuthError) {
      try await store.keep(registration)
    } catch {
      try? await delete(registration)
      throw error
    }
    return registration
  }

  /// Registers a client.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/registrationUnsupported``;
  ///   ``SQOAuthError/Code/registrationMismatch`` if the server registered something else, which is
  ///   deleted again if the server lets clients do so; the server's error, such as
  ///   ``SQOAuthError/Code/invalidRedirectURI`` or ``SQOAuthError/Code/invalidClientMetadata``.
  /// - SeeAlso: RFC 7591, section 3
  public func register(
    _ metadata: ClientMetadata
  ) async throws(SQOAuthError) -> ClientRegistration {
    try metadata.check()
    let request = try self.request(
      "POST", try await endpoint(), token: initialAccessToken, members: metadata.members)
    let reader = reader(hiding: [initialAccessToken])
    let members = try reader.members(
      of: try await environment.httpClient.exchange(request))
    let registration = try reader.registration(in: members)
    do throws(SQOAuthError) {
      try RegistrationResponse.check(registration, against: metadata)
    } catch {
      try? await delete(registration)
      throw error
    }
    return registration
  }

  private func endpoint() async throws(SQOAuthError) -> URL {
    let discovery = Discovery(issuer: issuer, timeout: timeout, clock: environment.clock)
    let metadata = try await environment.metadata.metadata(
      by: discovery, environment.httpClient, isFresh: false)
    guard let endpoint = metadata.registrationEndpoint else {
      throw SQOAuthError(
        .registrationUnsupported,
        "the server does not let clients register themselves; register your app in the way that "
          + "the server's documentation describes")
    }
    return endpoint
  }

  // MARK: Managing

  /// Reads the registration as the server has it now; keep the result in place of the old one.
  ///
  /// - SeeAlso: RFC 7592, section 2.1
  public func read(
    _ registration: ClientRegistration
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await manage(registration, "GET", members: nil)
  }

  /// Replaces what the server knows of the client; keep the result in place of the old one.
  ///
  /// - SeeAlso: RFC 7592, section 2.2
  public func update(
    _ registration: ClientRegistration, to metadata: ClientMetadata
  ) async throws(SQOAuthError) -> ClientRegistration {
    try metadata.check()
    var members = metadata.members
    members["client_id"] = .string(registration.clientID)
    if let secret = registration.clientSecret { members["client_secret"] = .string(secret) }
    let updated = try await manage(registration, "PUT", members: members)
    try RegistrationResponse.check(updated, against: metadata)
    return updated
  }

  /// Ends the registration at the server, and with it usually all tokens of the client.
  ///
  /// A registration that the server does not know any more counts as ended.
  ///
  /// - SeeAlso: RFC 7592, section 2.3
  public func delete(_ registration: ClientRegistration) async throws(SQOAuthError) {
    let management = try Self.management(of: registration)
    let request = try request(
      "DELETE", management.uri, token: management.accessToken, members: nil)
    let response = try await environment.httpClient.exchange(request)
    guard ![200, 204, 401, 404].contains(response.status) else { return }
    throw reader(hiding: [management.accessToken]).failure(response)
  }

  private func manage(
    _ registration: ClientRegistration, _ method: String, members: [String: JSONValue]?
  ) async throws(SQOAuthError) -> ClientRegistration {
    let management = try Self.management(of: registration)
    let request = try request(
      method, management.uri, token: management.accessToken, members: members)
    let reader = reader(hiding: [management.accessToken, registration.clientSecret])
    let answer = try reader.members(
      of: try await environment.httpClient.exchange(request))
    return try reader.registration(in: answer, after: registration)
  }

  private static func management(
    of registration: ClientRegistration
  ) throws(SQOAuthError) -> ClientRegistration.Management {
    guard let management = registration.management else {
      throw SQOAuthError(
        .registrationUnsupported, "the server does not let clients manage their registration")
    }
    return management
  }

  // MARK: Requests

  private func request(
    _ method: String, _ url: URL, token: String?, members: [String: JSONValue]?
  ) throws(SQOAuthError) -> HTTPRequest {
    var request = HTTPRequest(
      method: method, url: url, headers: ["Accept": "application/json"])
    if let token { request.headers["Authorization"] = "Bearer \(token)" }
    if let members {
      guard let body = try? JSONEncoder().encode(members) else {
        throw SQOAuthError(.invalidConfiguration, "the client cannot be described in JSON")
      }
      request.headers["Content-Type"] = "application/json"
      request.body = .bytes(body)
    }
    request.timeout = timeout
    return request
  }

  private func reader(hiding secrets: [String?]) -> RegistrationResponse {
    RegistrationResponse(
      issuer: issuer, secrets: SentSecrets(secrets.compactMap(\.self)),
      now: environment.clock.now)
  }
}

extension ClientRegistrar: Redacted {
  /// The server alone.
  public var description: String { "registrar of clients at \(issuer.printable)" }
}
