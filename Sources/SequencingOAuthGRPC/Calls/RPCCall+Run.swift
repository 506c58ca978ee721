import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a call does once it is started, from top to bottom.
extension RPCCall {
  func run() async {
    let result: Result<Data, RPCError>
    do throws(RPCError) {
      result = .success(try await perform())
    } catch {
      result = .failure(error)
    }
    end(result)
  }

  private func perform() async throws(RPCError) -> Data {
    let metadata = requestMetadata
    if metadata["authorization"] != nil {
      // What the caller gave this call comes before what the channel has.
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

  /// A token in clear can be read by everyone on the way.
  private func checkOrigin() throws(RPCError) {
    do throws(SQOAuthError) {
      _ = try channel.origin.get()
    } catch {
      throw RPCError(credential: error)
    }
  }

  // MARK: With an account's token

  private func perform(
    for module: AuthorizationModule, _ metadata: RPCMetadata
  ) async throws(RPCError) -> Data {
    let use = try await token(of: module)
    do throws(RPCError) {
      return try await attempt(metadata, use.fields)
    } catch {
      guard kind == .unary, error.refusesToken else { throw error }
      guard let next = try await replacement(of: use) else { throw error }
      state.withLock { ($0.headers, $0.trailers) = (nil, nil) }
      return try await second(metadata, next)
    }
  }

  private func second(
    _ metadata: RPCMetadata, _ use: TokenUse
  ) async throws(RPCError) -> Data {
    do throws(RPCError) {
      return try await attempt(metadata, use.fields)
    } catch {
      if error.refusesToken {
        use.wasRefused(SQOAuthError(.invalidToken, error.message, challenge: error.challenge))
      }
      throw error
    }
  }

  private func token(of module: AuthorizationModule) async throws(RPCError) -> TokenUse {
    do throws(SQOAuthError) {
      let origin = try channel.origin.get()
      if let use = try module.tokenUse(at: origin) { return use }
      // The server that gives tokens has no more time than the call.
      return try await inTime { () throws(SQOAuthError) in try await module.tokenUse(for: origin) }
    } catch {
      throw RPCError(credential: error)
    }
  }

  /// Another token for a call that was refused; `nil` where there is none.
  private func replacement(of use: TokenUse) async throws(RPCError) -> TokenUse? {
    do throws(SQOAuthError) {
      return try await inTime { () throws(SQOAuthError) in try await use.replaced() }
    } catch {
      throw RPCError(credential: error)
    }
  }

  /// Runs a body that is cancelled when the call's time is up.
  private func inTime<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    guard let deadline = state.withLock(\.deadline) else { return try await body() }
    let watch = Task {
      try await Task.sleep(until: deadline, clock: .continuous)
      end(.failure(.timeIsUp))
    }
    defer { watch.cancel() }
    return try await body()
  }
}

extension RPCError {
  /// Whether another token may please the server.
  var refusesToken: Bool {
    guard isFromServer, status == .unauthenticated else { return false }
    let reason = challenge?.error
    // A server that names no reason may mean the token; a malformed request it would name.
    return reason == nil || reason == .invalidToken
  }
}
