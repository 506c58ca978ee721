import SQBasics
import SQFoundation

/// The cause of an error: an account's token belongs to a different client or server than the
/// configured one.
package struct RecordOfAnotherClient: Error {}

// Creates the account's records, and rejects records of other clients.
extension ClientContext {
  /// Creates the first record of a session, with a token from the app.
  ///
  /// - Throws: ``SQOAuthError/Code/notAuthorized`` for an empty token;
  ///   ``SQOAuthError/Code/tokenNotBound`` for a token whose key is not known.
  func record(of token: SQToken, id: String) throws(SQOAuthError) -> AccountRecord {
    let configuration = try configuration.get()
    guard !token.isEmpty else { throw .emptyToken }
    try token.checkHasKey()
    return AccountRecord(
      signedIn: id, clientID: configuration.clientID, issuer: configuration.provider.issuer,
      tokenEndpoint: configuration.metadata?.tokenEndpoint.absoluteString, token: token,
      attributes: attributes)
  }

  /// Returns whether the client gets tokens in its own name, without a user.
  ///
  /// - Throws: ``SQOAuthError/Code/notAuthorized`` if the client has no redirect URI to sign a user
  ///   in, but could get a token without a user. The message names the call or the setting for
  ///   that.
  func actsInOwnName() throws(SQOAuthError) -> Bool {
    guard case .success(let configuration) = configuration else { return false }
    guard !configuration.usesClientCredentials else { return true }
    guard configuration.redirectURI == nil else { return false }
    if configuration.grantAssertionSource != nil {
      throw SQOAuthError(
        .notAuthorized,
        "there is no token, and the client has no redirect URI to sign a user in: call "
          + "requestAccessTokenByAssertion first")
    }
    guard !configuration.hasProofOfItself else {
      throw SQOAuthError(
        .notAuthorized,
        "no user is signed in, and the client has no redirect URI to sign a user in: set "
          + "usesClientCredentials in its configuration, or call requestAccessTokenAsClient first")
    }
    return false
  }

  /// Creates the first record of a session, with a token that the server issued to this client.
  func record(
    of token: SQToken, from client: RegisteredClient, _ grant: AccountRecord.Grant?, id: String
  ) -> AccountRecord {
    AccountRecord(
      signedIn: id, clientID: client.configuration.clientID, issuer: client.metadata.issuer,
      tokenEndpoint: client.metadata.tokenEndpoint.absoluteString, grant: grant, token: token,
      serverNonce: client.proving(with: token.proofKey).serverNonce, attributes: attributes)
  }

  /// Throws if a record's token is from another client or server, so this client must not use it.
  ///
  /// Without `settings`, the current ones are used.
  func check(_ record: AccountRecord, by settings: Settings? = nil) throws(SQOAuthError) {
    guard case .success(let configuration) = settings?.configuration ?? configuration else {
      return
    }
    try check(record, configuration)
  }

  /// Throws if a record's token is from another client or server than the given one.
  func check(
    _ record: AccountRecord, _ configuration: ClientConfiguration
  ) throws(SQOAuthError) {
    guard record.origin.isOf(configuration) else { throw .ofAnotherClient(record) }
  }

  /// Throws if a record's token is from a server other than the client's; call ``check(_:_:)``
  /// first.
  func check(_ record: AccountRecord, at client: RegisteredClient) throws(SQOAuthError) {
    guard record.origin.isOf(client) else { throw .ofAnotherClient(record) }
  }
}

extension AccountRecord {
  /// Returns whether a client got the token at its server; `true` if the server's metadata must be
  /// known to decide this.
  package func isOf(_ configuration: ClientConfiguration) -> Bool { origin.isOf(configuration) }
}

extension AccountRecord.Origin {
  /// Returns whether a client got the token at its server; `true` if the server's metadata must be
  /// known to decide this.
  func isOf(_ configuration: ClientConfiguration) -> Bool { fits(configuration.origin) }

  /// Returns whether the client and the server are those of a configuration; `true` if the server's
  /// metadata must be known to decide this.
  func fits(_ client: AccountRecord.Origin) -> Bool {
    guard clientID == client.clientID else { return false }
    if let issuer, let configured = client.issuer { return issuer == configured }
    guard let tokenEndpoint, let configured = client.tokenEndpoint else { return true }
    return tokenEndpoint == configured
  }

  /// Returns whether a client got the token at its server.
  ///
  /// If the token's or the client's server has no issuer, the token endpoints are compared.
  func isOf(_ client: RegisteredClient) -> Bool {
    guard isOf(client.configuration) else { return false }
    return client.metadata.issuer != nil && issuer != nil || hasTokenEndpoint(of: client.metadata)
  }

  private func hasTokenEndpoint(of metadata: ProviderMetadata) -> Bool {
    guard let tokenEndpoint else { return true }
    return metadata.tokenEndpoint.absoluteString == tokenEndpoint
  }
}

extension ClientConfiguration {
  /// The client and its server; without a token endpoint if the server's metadata must name it.
  var origin: AccountRecord.Origin {
    AccountRecord.Origin(
      clientID: clientID, issuer: provider.issuer,
      tokenEndpoint: metadata?.tokenEndpoint.absoluteString)
  }
}

extension SQOAuthError {
  static func ofAnotherClient(_ record: AccountRecord) -> SQOAuthError {
    SQOAuthError(
      .invalidConfiguration,
      "the account \"\(record.id.printable)\" belongs to another client or server than the "
        + "configured one; sign in again to replace the account, or sign out",
      cause: RecordOfAnotherClient())
  }
}
