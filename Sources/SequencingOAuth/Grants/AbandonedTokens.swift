import SQBasics

/// The token requests whose callers were cancelled before the response came.
///
/// The server may already have issued tokens, and an authorization code or a device code can be
/// used only once. So such a request continues, and its tokens are revoked. Otherwise they would
/// stay valid although no caller has them.
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
    let received = await withTaskCancellationHandler {
      await answer.value()
    } onCancel: {
      // A flush that begins right after the cancellation must wait for this request.
      add(end)
    }
    if let received {
      remove(end)
      return try received.get()
    }
    revoke(answer, of: client, end)
    throw cancellation
  }

  /// Waits until each request has its response and the tokens are revoked.
  func flush() async {
    while let end = ends.withLock({ $0.values.first }) { await end.wait() }
  }

  /// Revokes, in the background, a token that was issued but must not be used.
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
      if case .success(let issued) = await answer.wait() {
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
