import SQBasics

/// The token requests whose callers were cancelled before the answer came.
///
/// The server may have issued tokens by then, and a device code or an authorization code is used up.
/// So such a request goes on, and the tokens that it brings are revoked: otherwise they would
/// live on, and nobody would have them.
package final class UnclaimedTokens: Sendable {
  private typealias Answer = Result<IssuedToken, SQOAuthError>

  private let requests = Locked<[Int: Task<Void, Never>]>([:])
  private let last = Locked(0)

  package init() {}

  /// Sends a token request, and returns its token if the caller still waits for it.
  ///
  /// If not, the `cancellation` is thrown.
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

  /// Returns when each of these requests has its answer and its tokens are revoked.
  func settle() async {
    while let request = requests.withLock({ $0.values.first }) { await request.value }
  }

  private func revoke(_ answer: OneShot<Answer>, of client: RegisteredClient) {
    let id = last.withLock { last in
      last += 1
      return last
    }
    // Under the lock, so that the task cannot be over before it is noted.
    requests.withLock { requests in
      requests[id] = Task { [self] in
        if case .success(let issued) = await answer.wait() {
          // A server without a revocation endpoint ends the tokens in its own time.
          try? await Revocation(client: client).run(issued.token)
        }
        self.requests.withLock { $0[id] = nil }
      }
    }
  }
}
