import LoopbackHTTP

/// The client of one account: its configuration, its parts, and what is known of its server.
final class ClientContext: Sendable {
  private struct State {
    var configuration: Result<ClientConfiguration, SQOAuthError>
    var environment: ClientEnvironment
    var attributes: [String: String] = [:]
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

  /// What the app keeps with the account.
  var attributes: [String: String] {
    get { state.withLock(\.attributes) }
    set { state.withLock { $0.attributes = newValue } }
  }

  /// Goes on with what was kept before, where the app has said nothing of it.
  func resumeAttributes(of record: AccountRecord) {
    state.withLock { if $0.attributes.isEmpty { $0.attributes = record.attributes } }
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
  func renew(_ record: AccountRecord) async throws(SQOAuthError) -> SQToken {
    try check(record)
    let endpoint = try await endpoint()
    try check(record, at: endpoint)
    do throws(SQOAuthError) {
      if let grant = record.grant, record.token.refreshToken == nil {
        return try await ClientCredentialsGrant(endpoint: endpoint).run(scope: grant.scope)
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
    try check(record, at: endpoint)
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
}
