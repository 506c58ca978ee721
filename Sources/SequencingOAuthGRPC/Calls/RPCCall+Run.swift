import SQBasics
import SQFoundation
import SequencingOAuth

/// Methods that perform a call after its start.
extension RPCCall {
  func run() async {
    end(await .of { () throws(RPCCallError) in try await perform() })
  }

  private func perform() async throws(RPCCallError) -> Data {
    let metadata = requestMetadata
    try metadata.checkSendable()
    if metadata["authorization"] != nil {
      // A credential that the app set for this call takes precedence over the channel's credential.
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
      throw RPCCallError(
        .unauthenticated, "the call's access token must not be sent: \(error.message)",
        cause: error)
    }
  }

  // MARK: With an account's token

  private func perform(
    for module: AuthorizationModule, _ metadata: RPCMetadata
  ) async throws(RPCCallError) -> Data {
    var authorization = try await authorization(by: module)
    while true {
      do throws(RPCCallError) {
        let answer = try await authorization.observing { (error: RPCCallError) in
          SQOAuthError.Code(rawValue: "grpc_\(error.status.description.asciiLowercased())")
        } _: { fields throws(RPCCallError) in
          try await attempt(metadata, fields)
        }
        authorization.learn(responseMetadata.fields)
        return answer
      } catch {
        // Even if the call is not repeated, its answer may contain the nonce for the next call.
        authorization.learn(error.metadata.fields)
        guard kind == .unary, error.isFromServer,
          let next = try await next(after: error, authorization)
        else { throw error.refusing(authorization) }
        authorization = next
        state.withLock { ($0.head, $0.trailers) = (nil, nil) }
      }
    }
  }

  /// Returns the fields with a valid token for the first attempt.
  private func authorization(
    by module: AuthorizationModule
  ) async throws(RPCCallError) -> RequestAuthorization {
    do throws(SQOAuthError) {
      let owner = module.session.owner
      let origin = try channel.origin.get()
      let request = ResourceRequest("POST", called.url)
      if let use = try module.addressedToken(at: origin, of: owner), !use.needsCodeOfApp {
        return try await use.authorization(for: request)
      }
      // The call's timeout also limits the wait for a token and for the app's code.
      return try await inTime { () throws(SQOAuthError) in
        try await module.addressedToken(for: origin, of: owner).authorization(for: request)
      }
    } catch {
      throw RPCCallError(credential: error)
    }
  }

  /// Returns the fields for another attempt after the server refused the call, its token or its
  /// proof; `nil` if no other attempt can help.
  private func next(
    after error: RPCCallError, _ authorization: RequestAuthorization
  ) async throws(RPCCallError) -> RequestAuthorization? {
    guard let status = error.asHTTP else { return nil }
    do throws(SQOAuthError) {
      return try await inTime { () throws(SQOAuthError) in
        try await authorization.renewed(afterStatus: status, fields: error.metadata.fields)
      }
    } catch {
      throw RPCCallError(credential: error)
    }
  }

  /// Runs a body in a task that is cancelled when the call times out or is cancelled.
  ///
  /// The call then ends without waiting for the task, because the app's code may ignore the
  /// cancellation.
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
    return try await interruption.result(of: body, orIfRaised: .waitCancelled).get()
  }
}
