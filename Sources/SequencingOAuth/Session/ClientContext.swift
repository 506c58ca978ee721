import LoopbackHTTP

/// The client of one account: its configuration, its parts, and what is known of its server.
final class ClientContext: Sendable {
  private struct State {
    var configuration: Result<ClientConfiguration, SQOAuthError>
    var environment: ClientEnvironment
    /// What discovery found, for as long as requests to it succeed.
    var discovered: ProviderMetadata?
  }

  private let state: Locked<State>

  init(
    _ configuration: Result<ClientConfiguration, SQOAuthError>, _ environment: ClientEnvironment
  ) {
    state = Locked(State(configuration: configuration, environment: environment))
  }

  var environment: ClientEnvironment {
    get { state.withLock(\.environment) }
    set { state.withLock { $0.environment = newValue } }
  }

  var configuration: Result<ClientConfiguration, SQOAuthError> {
    get { state.withLock(\.configuration) }
    set {
      state.withLock { state in
        state.configuration = newValue
        state.discovered = nil
      }
    }
  }

  /// The token endpoint and everything that a request to it needs; with `isFresh` the server's
  /// metadata is fetched although it is known.
  func endpoint(isFresh: Bool = false) async throws(SQOAuthError) -> TokenEndpoint {
    let (result, environment, discovered) = state.withLock {
      ($0.configuration, $0.environment, $0.discovered)
    }
    let configuration = try result.get()
    if let known = configuration.metadata ?? (isFresh ? nil : discovered) {
      return TokenEndpoint(
        configuration: configuration, environment: environment, metadata: known)
    }
    guard case .issuer(let issuer) = configuration.provider.source else {
      throw SQOAuthError(.invalidConfiguration, "the provider has no endpoints")
    }
    let metadata = try await Discovery(issuer: issuer, timeout: configuration.timeout)
      .fetch(with: environment.httpClient)
    state.withLock { state in
      if case .success(configuration) = state.configuration { state.discovered = metadata }
    }
    return TokenEndpoint(
      configuration: configuration, environment: environment, metadata: metadata)
  }

  /// The next token of a session.
  func renew(
    _ record: AccountRecord, _ origin: SessionState.Origin
  ) async throws(SQOAuthError) -> SQToken {
    try check(record)
    let endpoint = try await endpoint()
    do throws(SQOAuthError) {
      if case .clientCredentials(let scope) = origin, record.token.refreshToken == nil {
        return try await ClientCredentialsGrant(endpoint: endpoint).run(scope: scope)
      }
      return try await RefreshTokenGrant(endpoint: endpoint).run(record.token)
    } catch {
      // The server may have moved: what says nothing in OAuth's terms is not asked there again.
      if error.response == nil { state.withLock { $0.discovered = nil } }
      throw error
    }
  }

  /// Has the server end a session's tokens.
  func revoke(_ record: AccountRecord) async throws(SQOAuthError) {
    try check(record)
    let endpoint = try await endpoint()
    let requests = try RevocationRequest.all(
      for: record.token, of: endpoint.configuration, endpoint.metadata)
    var unsupported: SQOAuthError?
    for (index, request) in requests.enumerated() {
      let answer = try await endpoint.environment.httpClient.exchange(request.httpRequest())
      do throws(SQOAuthError) {
        let receivedAt = endpoint.environment.clock.now
        try RevocationResponse(request: request, receivedAt: receivedAt).check(answer)
      } catch {
        guard error.code == .unsupportedTokenType else { throw error }
        // The access token alone ends soon by itself; what can renew it does not.
        if index == 0 { unsupported = error }
      }
    }
    if let unsupported { throw unsupported }
  }

  /// The record of a token for the client as it is configured.
  func record(of token: SQToken, id: String) throws(SQOAuthError) -> AccountRecord {
    let configuration = try configuration.get()
    return AccountRecord(
      id: id, clientID: configuration.clientID, issuer: configuration.issuer, token: token)
  }

  /// Refuses a record of another client or another server: its tokens are not theirs to see.
  func check(_ record: AccountRecord) throws(SQOAuthError) {
    guard case .success(let configuration) = configuration else { return }
    if record.clientID == configuration.clientID {
      guard let issuer = configuration.issuer, let recorded = record.issuer,
        !issuer.utf8.elementsEqual(recorded.utf8)
      else { return }
    }
    throw SQOAuthError(
      .invalidConfiguration,
      "the account \"\(ErrorResponse.clean(record.id))\" was signed in by another client or at "
        + "another server than the ones that are configured now")
  }
}

extension ClientConfiguration {
  /// The issuer, where it is known without asking.
  var issuer: String? {
    switch provider.source {
    case .issuer(let issuer): issuer
    case .endpoints(let endpoints): endpoints.issuer
    }
  }
}
