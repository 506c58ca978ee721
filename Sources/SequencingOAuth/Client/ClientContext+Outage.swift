import SQFoundation

// How an account's token is refreshed while the server's metadata cannot be fetched.
extension ClientContext {
  /// Returns the client for the refresh of a record's token.
  ///
  /// If the server's metadata is not known and cannot be fetched because of an outage, the client
  /// knows only the token endpoint in the record. If that is not enough for a refresh, the error of
  /// the request for the metadata is thrown.
  func renewingClient(of record: AccountRecord) async throws(SQOAuthError) -> RegisteredClient {
    do throws(SQOAuthError) {
      return try await client(of: record)
    } catch {
      guard error.isOutage, let client = try clientWithoutMetadata(of: record) else { throw error }
      return client
    }
  }

  /// Returns the client with the token endpoint of a record; `nil` if a refresh needs more
  /// metadata.
  ///
  /// The record's issuer must be the configured one, because that issuer's metadata named the
  /// endpoint. The client must accept an endpoint at that address, and its authentication must not
  /// depend on the metadata. The result is `nil` for an account with an ID token, because a new ID
  /// token could not be validated without the issuer's keys.
  private func clientWithoutMetadata(
    of record: AccountRecord
  ) throws(SQOAuthError) -> RegisteredClient? {
    let configuration = try configuration.get()
    guard configuration.metadata == nil, let issuer = configuration.provider.issuer,
      issuer == record.issuer, configuration.clientID == record.clientID,
      configuration.authenticatesWithoutMetadata, record.token.refreshToken != nil,
      record.token.idToken == nil, let endpoint = record.tokenEndpoint,
      let metadata = try? ProviderMetadata(tokenEndpoint: endpoint, of: issuer),
      configuration.acceptsServersOnThisComputer || (try? metadata.checkIsElsewhere()) != nil
    else { return nil }
    let client = RegisteredClient(
      configuration: configuration, environment: environment, metadata: metadata,
      proofKey: record.proofKey)
    client.resume(serverNonce: record.serverNonce)
    return client
  }
}

extension ProviderMetadata {
  /// Creates the metadata of an issuer with its token endpoint only.
  ///
  /// - Throws: ``SQOAuthError/Code/insecureEndpoint`` or another error for an endpoint that the
  ///   issuer's metadata could not have named.
  fileprivate init(tokenEndpoint: String, of issuer: String) throws(SQOAuthError) {
    try self.init(
      members: [
        "issuer": .string(issuer), "token_endpoint": .string(tokenEndpoint),
      ], issuer: issuer)
  }
}

extension RegisteredClient {
  /// Returns the token endpoint to store in a record of the given issuer, if it is this client's
  /// issuer.
  ///
  /// For any other record the result is `nil`. Such a record keeps its token endpoint, which
  /// identifies the record's server.
  func tokenEndpoint(ofIssuer issuer: String?) -> String? {
    guard let issuer, issuer == metadata.issuer else { return nil }
    return metadata.tokenEndpoint.absoluteString
  }
}

extension ClientConfiguration {
  /// Whether the client's authentication is the same whatever the server's metadata lists.
  fileprivate var authenticatesWithoutMetadata: Bool {
    guard !usesCertificate else { return false }
    return clientAuthentication != nil || clientKey != nil || clientSecret == nil
      || provider.clientAuthentication != nil
  }
}
