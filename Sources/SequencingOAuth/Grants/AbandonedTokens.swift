import SQBasics

/// The token requests whose callers were cancelled before the response came.
///
/// The server may already have issued tokens, and an authorization code or a device code can be
/// used only once. So such a request continues, and its tokens are revoked. Otherwise they would
/// stay valid although no caller has them.
package final class AbandonedTokens: Sendable {
  private typealias Answer = Result<IssuedToken, SQOAuthError>

  private let requests = Locked<[Int: Task<Void, Never>]>([:])
  private let last = Locked(0)

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
    if let answer = await answer.value() { return try answer.get() }
    revoke(answer, of: client)
    throw cancellation
  }

  /// Waits until each request has its response and the tokens are revoked.
  func flush() async {
    while let request = requests.withLock({ $0.values.first }) { await request.value }
  }

  /// Revokes, in the background, a token that was issued but must not be used.
  func revoke(_ token: SQToken, of client: RegisteredClient) {
    let answer = OneShot<Answer>()
    answer.resolve(.success(IssuedToken(token)))
    revoke(answer, of: client)
  }

  private func revoke(_ answer: OneShot<Answer>, of client: RegisteredClient) {
    let id = last.withLock { last in
      last += 1
      return last
    }
    // Start the task under the lock, so that it cannot end before it is recorded.
    requests.withLock { requests in
      requests[id] = Task { [self] in
        if case .success(let issued) = await answer.wait() {
          // Without a revocation endpoint, the tokens stay valid until they expire.
          try? await Revocation(client: client).run(issued.token)
        }
        self.requests.withLock { $0[id] = nil }
      }
    }
  }
}
