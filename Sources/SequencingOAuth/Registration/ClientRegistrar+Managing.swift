import SQBasics
import SQCrypto
import SQFoundation

// Operations on an existing registration (RFC 7592).
extension ClientRegistrar {
  /// Reads the registration from the server; store the result in place of the old registration.
  ///
  /// If the caller's task is cancelled after the request was sent, the call continues and returns
  /// the registration, because the old secret and the old token may no longer work.
  ///
  /// The server may have replaced the secret or the token that manages the registration. A property
  /// whose value is missing in the response keeps its earlier value, except
  /// ``ClientRegistration/members``. Another program, or a person on the server's pages, may have
  /// changed the client: ``ClientRegistration/check(against:)`` compares the result with the needs
  /// of your app, such as its redirect URIs.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/registrationUnsupported`` if the client cannot
  ///   manage itself; ``SQOAuthError/Code/registrationMismatch`` for a response about another
  ///   client, or for a registration of another issuer (nothing is sent then); the server's error,
  ///   with status 401 if the server no longer knows the client or the token for managing it.
  /// - SeeAlso: RFC 7592, section 2.1
  public func read(
    _ registration: ClientRegistration
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await manage(registration, "GET", nil)
  }

  /// Replaces the server's description of the client; store the result in place of the old one.
  ///
  /// Members that the server registered on its own, such as its choice of an algorithm, are sent
  /// unchanged, because the server deletes what is missing. A member that the client sent before,
  /// and that `metadata` does not have, is deleted. To delete any other member, set it to `null` in
  /// ``ClientMetadata/additionalMembers``.
  ///
  /// The result is the server's new registration, even if it differs from `metadata`: the server
  /// may have replaced the secret and the token, and the old ones no longer work. So first save the
  /// result, then check it with ``ClientRegistration/check(against:)``. A cancelled task also gets
  /// the result if the request was sent before.
  ///
  /// - Throws: ``SQOAuthError``: see ``read(_:)``; ``SQOAuthError/Code/invalidConfiguration`` for
  ///   `metadata` that no server could accept (nothing is sent then); the server's error, such as
  ///   ``SQOAuthError/Code/invalidClientMetadata`` (the registration has not changed then).
  /// - SeeAlso: RFC 7592, section 2.2
  public func update(
    _ registration: ClientRegistration, to metadata: ClientMetadata
  ) async throws(SQOAuthError) -> ClientRegistration {
    try metadata.check()
    // If the server's metadata is not available, the client keeps its authentication method.
    let server = try? await serverMetadata()
    let chosen =
      (server.map { metadata.choosingGrants(at: $0).choosingSignatures(at: $0) } ?? metadata)
      .choosingAuthentication(
        supported: server.map(\.clientAuthenticationMethods)
          ?? [registration.clientAuthentication.rawValue])
    var changed = try await manage(registration, "PUT", chosen)
    changed.askedGrants = metadata.grantTypes
    return changed
  }

  /// Returns whether the token endpoint of the server certainly knows a registered client.
  ///
  /// A server authenticates a confidential client before it looks at a code (RFC 6749, section
  /// 3.2.1), so an answer that refuses only the code is about a known client. A server may look up
  /// the code of a public client first, so such an answer counts only if the server answers
  /// otherwise to a random client. A client without a redirect URI is never certainly known.
  func knows(
    _ registration: ClientRegistration, as metadata: ClientMetadata
  ) async -> Bool {
    do throws(SQOAuthError) {
      if registration.clientAuthentication == .publicClient {
        let stranger = try ClientConfiguration(
          clientID: RandomString.make(), redirectURI: registration.redirectURIs.first,
          provider: .issuer(issuer), clientAuthentication: .publicClient)
        let code = try await refusalOfRandomCode(stranger, as: metadata)?.code
        guard code == .invalidClient || code == .unauthorizedClient else { return false }
      }
      let configuration = try registration.configuration(clientKey: metadata.keys.first)
      return try await refusalOfRandomCode(configuration, as: metadata)?.code == .invalidGrant
    } catch {
      return false
    }
  }

  private func refusalOfRandomCode(
    _ configuration: ClientConfiguration, as metadata: ClientMetadata
  ) async throws(SQOAuthError) -> SQOAuthError? {
    var configuration = configuration
    configuration.acceptsServersOnThisComputer = acceptsServersOnThisComputer
    configuration.profile = metadata.profile
    configuration.timeout = timeout
    let client = RegisteredClient(
      configuration: configuration, environment: environment, metadata: try await serverMetadata())
    return await client.proving(with: try client.newProofKey()).refusalOfRandomCode()
  }

  /// Deletes the registration at the server; this usually invalidates all tokens of the client.
  ///
  /// If the server no longer knows the registration, the method succeeds.
  ///
  /// - SeeAlso: RFC 7592, section 2.3
  public func delete(_ registration: ClientRegistration) async throws(SQOAuthError) {
    try await end(try await management(of: registration))
  }

  func end(_ management: ClientRegistration.Management) async throws(SQOAuthError) {
    let request = try request(
      "DELETE", management.uri, token: management.accessToken, members: nil)
    let response = try await environment.exchange(request, for: .registration)
    guard ![200, 204, 401, 404].contains(response.status) else { return }
    throw reader(at: management.uri, hiding: [management.accessToken]).failure(response)
  }

  /// The members that only the server sets; registrations contain them, and so may metadata that an
  /// app copied from one.
  ///
  /// - SeeAlso: RFC 7592, section 2.2
  private static let serversMembers = [
    "registration_access_token", "registration_client_uri", "client_secret_expires_at",
    "client_id_issued_at",
  ]

  /// Returns the members of the request that changes a registration to `metadata`.
  ///
  /// The request must have all members of the server's last response, because the server deletes
  /// those that are missing. Members that the client sent before are replaced, also if `metadata`
  /// does not have them.
  ///
  /// - SeeAlso: RFC 7592, section 2.2
  private func members(
    of registration: ClientRegistration, changedTo metadata: ClientMetadata, listed: [String]?
  ) -> [String: JSONValue] {
    let replaced = Set(registration.askedMembers ?? ClientMetadata.ownNames)
      .subtracting(
        metadata.profile.signatureMembers.filter {
          registration.hasAlgorithm($0, of: metadata.profile)
        })
    // Some servers write `null` or an empty text for members that they do not have.
    let kept = registration.members.filter { name, value in
      !replaced.contains(name) && ![.null, ""].contains(value)
    }
    var members = kept.merging(metadata.members(listed: listed)) { $1 }
    for name in Self.serversMembers { members[name] = nil }
    members["client_id"] = .string(registration.clientID)
    if let secret = registration.clientSecret { members["client_secret"] = .string(secret) }
    return members
  }

  private func manage(
    _ registration: ClientRegistration, _ method: String, _ metadata: ClientMetadata?
  ) async throws(SQOAuthError) -> ClientRegistration {
    let management = try await management(of: registration)
    let listed = try? await serverMetadata().clientAssertionAlgorithms
    let members = metadata.map { self.members(of: registration, changedTo: $0, listed: listed) }
    let request = try request(
      method, management.uri, token: management.accessToken, members: members)
    let reader = reader(
      at: management.uri, hiding: [management.accessToken, registration.clientSecret])
    return try await uncancelledOnceSent { () throws(SQOAuthError) in
      let answer = try reader.members(
        of: try await environment.exchange(request, for: .registration))
      return try reader.registration(in: answer, for: metadata, after: registration)
    }
  }

  /// Returns the address for managing a registration, and the token that the address requires.
  ///
  /// An older version of the SDK stored any address that the server named. The address is not used
  /// if it is on a different server than the registration endpoint; ``register(_:)`` does not store
  /// such an address either.
  private func management(
    of registration: ClientRegistration
  ) async throws(SQOAuthError) -> ClientRegistration.Management {
    // Another issuer on the same server would get the client's secrets under the wrong name.
    guard ExactText(registration.issuer) == ExactText(issuer) else {
      throw SQOAuthError(
        .registrationMismatch,
        "the client is registered at \(registration.issuer.printable), not at \(issuer.printable)")
    }
    guard let management = registration.management else {
      throw SQOAuthError(
        .registrationUnsupported,
        "the server sent no usable address and token to manage this registration "
          + "(registration_client_uri, registration_access_token)")
    }
    let server = try await serverMetadata()
    let endpoint = (try? server.address(of: .registration)) ?? URL(string: issuer)
    guard let origin = try? ResourceOrigin(management.uri),
      origin == endpoint.flatMap({ try? ResourceOrigin($0) })
    else {
      throw SQOAuthError(
        .registrationUnsupported,
        "the stored registration's management address is not on the server that registers clients, "
          + "so the SDK does not use it; register the client again")
    }
    return management
  }
}
