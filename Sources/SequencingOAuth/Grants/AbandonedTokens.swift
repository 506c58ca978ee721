import SQBasics

/// The token requests whose callers were cancelled before they could use the token.
///
/// The server may already have issued tokens, and an authorization code or a device code can be
/// used only once. So such a request continues, and its tokens are revoked. Otherwise they would
/// stay valid although no caller has them. If a revocation would also end other tokens, it is worse
/// than that, and none is sent.
package final class AbandonedTokens: Sendable {
  private typealias Answer = Result<IssuedToken, SQOAuthError>

  /// A value for each request, resolved when nothing is left to do: the token is revoked, or the
  /// caller got it after all.
  private let ends = Locked<[ObjectIdentifier: OneShot<Void>]>([:])

  package init() {}

  /// Sends a token request, and returns its token.
  ///
  /// If the caller is cancelled before the response comes, this throws `cancellation`, and the
  /// tokens are revoked when they arrive.
  func token(
    of client: RegisteredClient, orIfCancelled cancellation: SQOAuthError = .signInCancelled,
    _ request: @escaping @Sendable () async throws(SQOAuthError) -> IssuedToken
  ) async throws(SQOAuthError) -> IssuedToken {
    try await token(of: client, orIfCancelled: cancellation, request) { $0 }
  }

  /// Sends a token request, and uses its token: `use` validates and stores it, for example.
  ///
  /// If the caller is cancelled before the response comes, this throws `cancellation`, and the
  /// tokens are revoked when they arrive. They are revoked too if `use` fails because of a
  /// cancellation: that of the caller, or the end of the session for which the token was meant. A
  /// token that `use` refuses for any other reason is not revoked.
  func token<Value: Sendable>(
    of client: RegisteredClient, orIfCancelled cancellation: SQOAuthError = .signInCancelled,
    _ request: @escaping @Sendable () async throws(SQOAuthError) -> IssuedToken,
    use: (IssuedToken) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    guard !Task.isCancelled else { throw cancellation }
    let answer = OneShot<Answer>()
    Task {
      do throws(SQOAuthError) {
        answer.resolve(.success(try await request()))
      } catch {
        answer.resolve(.failure(error))
      }
    }
    let end = OneShot<Void>()
    let result = await withTaskCancellationHandler { () -> Result<Value, SQOAuthError> in
      do throws(SQOAuthError) {
        guard let received = await answer.value() else { throw cancellation }
        return .success(try await use(try received.get()))
      } catch {
        return .failure(error)
      }
    } onCancel: {
      // A flush that begins right after the cancellation must wait for this request.
      add(end)
    }
    if case .failure(let error) = result, Task.isCancelled || error.code == .cancelled {
      revoke(answer, of: client, end)
    } else {
      remove(end)
    }
    return try result.get()
  }

  /// Waits until each request has its response and the tokens are revoked.
  func flush() async {
    while let end = ends.withLock({ $0.values.first }) { await end.wait() }
  }

  /// Revokes, in the background, a token that was issued but must not be used, unless other tokens
  /// would end too.
  func revoke(_ token: SQToken, of client: RegisteredClient) {
    let answer = OneShot<Answer>()
    answer.resolve(.success(IssuedToken(token)))
    revoke(answer, of: client, OneShot<Void>())
  }

  private func revoke(
    _ answer: OneShot<Answer>, of client: RegisteredClient, _ end: OneShot<Void>
  ) {
    add(end)
    Task {
      if case .success(let issued) = await answer.wait(),
        client.configuration.provider.revokesSingleTokens
      {
        // Without a revocation endpoint, the tokens stay valid until they expire.
        try? await Revocation(client: client).run(issued.token)
      }
      remove(end)
    }
  }

  private func add(_ end: OneShot<Void>) {
    ends.withLock { $0[ObjectIdentifier(end)] = end }
  }

  private func remove(_ end: OneShot<Void>) {
    ends.withLock { $0[ObjectIdentifier(end)] = nil }
    end.resolve(())
  }
}
