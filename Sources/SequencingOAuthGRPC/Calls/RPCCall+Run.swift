import SQBasics
import SQFoundation
import SequencingOAuth

/// Methods that perform a call after its start.
extension RPCCall {
  func run() async {
    let result: Result<Data, RPCCallError>
    do throws(RPCCallError) {
      result = .success(try await perform())
    } catch {
      result = .failure(error)
    }
    end(result)
  }

  private func perform() async throws(RPCCallError) -> Data {
    let metadata = requestMetadata
    try metadata.checkSendable()
    if metadata["authorization"] != nil {
      // A credential that the app set for this call takes precedence over the channel's.
      try checkOrigin()
      return try await attempt(metadata)
    }
    switch channel.credential {
    case .none:
      return try await attempt(metadata)
    case .accessToken(let token):
      try checkOrigin()
      var metadata = metadata
      try metadata.setOAuth2AccessToken(token)
      return try await attempt(metadata)
    case .account(let module):
      return try await perform(for: module, metadata)
    }
  }

  /// Throws if the server must not get a token, for example because the connection has no TLS.
  private func checkOrigin() throws(RPCCallError) {
    do throws(SQOAuthError) {
      _ = try channel.origin.get()
    } catch {
      throw RPCCallError(credential: error)
    }
  }

  // MARK: With an account's token

  private func perform(
    for module: AuthorizationModule, _ metadata: RPCMetadata
  ) async throws(RPCCallError) -> Data {
    let use = try await token(of: module)
    do throws(RPCCallError) {
      return try await attempt(metadata, use.fields)
    } catch {
      guard kind == .unary, error.refusesToken else { throw error }
      guard let next = try await replacement(of: use) else { throw error }
      state.withLock { ($0.head, $0.trailers) = (nil, nil) }
      return try await second(metadata, next)
    }
  }

  private func second(
    _ metadata: RPCMetadata, _ use: AddressedToken
  ) async throws(RPCCallError) -> Data {
    do throws(RPCCallError) {
      return try await attempt(metadata, use.fields)
    } catch {
      if error.refusesToken {
        use.wasRefused(SQOAuthError(.invalidToken, error.message, challenge: error.challenge))
      }
      throw error
    }
  }

  private func token(of module: AuthorizationModule) async throws(RPCCallError) -> AddressedToken {
    do throws(SQOAuthError) {
      let origin = try channel.origin.get()
      if let use = try module.addressedToken(at: origin) { return use }
      // The call's timeout also limits the wait for a token.
      return try await inTime { () throws(SQOAuthError) in
        try await module.addressedToken(for: origin)
      }
    } catch {
      throw RPCCallError(credential: error)
    }
  }

  /// Waits for a new token after the server rejected the call's token; returns `nil` without one.
  private func replacement(of use: AddressedToken) async throws(RPCCallError) -> AddressedToken? {
    do throws(SQOAuthError) {
      return try await inTime { () throws(SQOAuthError) in try await use.replaced() }
    } catch {
      throw RPCCallError(credential: error)
    }
  }

  /// Runs a body in a task that is cancelled when the call times out or is cancelled.
  private func inTime<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let watch = state.withLock(\.deadline).map { deadline in
      Task {
        try await Task.sleep(until: deadline, clock: .continuous)
        end(.failure(.timeIsUp))
      }
    }
    defer { watch?.cancel() }
    return try await interruption.result(of: body).get()
  }
}

extension RPCCallError {
  /// Whether the server may accept the call with another token.
  var refusesToken: Bool {
    guard isFromServer, status == .unauthenticated else { return false }
    let reason = challenge?.error
    // Without a reason, the server may mean the token. For a malformed request, it would give one.
    return reason == nil || reason == .invalidToken
  }
}
