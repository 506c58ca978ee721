import SQBasics

/// The token requests that are under way, and the revocations of unused tokens.
///
/// If a caller is cancelled, the server may already have issued tokens, and an authorization code
/// or a device code can be used only once. So the request continues, and its tokens are revoked.
/// Otherwise they would stay valid although no caller has them. If a revocation would also end
/// other tokens, it is worse than that, and none is sent.
///
/// A program that ends waits for the requests too, because their tokens would be lost.
package final class TokenRequests: Sendable {
  private typealias Answer = Result<IssuedToken, SQOAuthError>

  /// A value for each request, resolved when nothing is left to do: the request has failed, or its
  /// token is in use, refused or revoked.
  private let ends = Locked<[ObjectIdentifier: OneShot<Void>]>([:])
  /// The requests of all accounts of a manager, which have these too; `nil` without a manager.
  private let all: TokenRequests?

  package init(among all: TokenRequests? = nil) {
    self.all = all
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
    // A flush that begins from now on must wait for this request.
    let end = begin()
    let answer = OneShot<Answer>()
    Task { answer.resolve(await .of(request)) }
    let result = await Result.of { () throws(SQOAuthError) in
      guard let received = await answer.value() else { throw cancellation }
      return try await use(try received.get())
    }
    if case .failure(let error) = result, Task.isCancelled || error.code == .cancelled {
      revoke(answer, of: client, end)
    } else {
      remove(end)
    }
    return try result.get()
  }

  /// Runs work that gets a token and uses it after the request, for example stores it.
  ///
  /// ``flush()`` waits for the work as it waits for a request.
  package func tracking<Value>(
    _ work: () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let end = begin()
    defer { remove(end) }
    return try await work()
  }

  /// Whether a token request or a revocation is under way.
  package var hasRequests: Bool { ends.withLock { !$0.isEmpty } }

  /// Waits until the requests that are under way have ended, and their tokens are stored or
  /// revoked.
  ///
  /// The wait ends after ``ClientConfiguration/longestTimeout``, or if the caller is cancelled; the
  /// requests continue.
  ///
  /// - Returns: Whether a request was under way.
  package func flush() async -> Bool {
    let end = ContinuousClock.now + ClientConfiguration.longestTimeout
    var hasWaited = false
    // The second round is for the revocations that the requests of the first one have begun. There
    // is no third one, because a server that is not stopped yet begins requests all the time.
    for _ in 1...2 {
      for request in ends.withLock({ Array($0.values) }) {
        hasWaited = true
        _ = await request.wait(until: end)
      }
    }
    return hasWaited
  }

  /// Runs a flush of stores beside the wait for the requests that are under way.
  ///
  /// If there were any, it runs the flush again: a store may lack a token that has come meanwhile.
  ///
  /// - Returns: The result of the last run.
  func flush<Value>(beside flushStores: () async -> Value) async -> Value {
    // Asked first: a request may end before the wait for it begins.
    let hasRequests = hasRequests
    async let hadRequests = flush()
    let value = await flushStores()
    guard await hadRequests || hasRequests else { return value }
    return await flushStores()
  }

  /// Revokes, in the background, a token that was issued but must not be used, unless other tokens
  /// would end too.
  package func revoke(_ token: SQToken, of client: RegisteredClient) {
    let answer = OneShot<Answer>()
    answer.resolve(.success(IssuedToken(token)))
    revoke(answer, of: client, begin())
  }

  private func revoke(
    _ answer: OneShot<Answer>, of client: RegisteredClient, _ end: OneShot<Void>
  ) {
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

  private func begin() -> OneShot<Void> {
    let end = OneShot<Void>()
    note(end, true)
    return end
  }

  private func remove(_ end: OneShot<Void>) {
    note(end, false)
    end.resolve(())
  }

  private func note(_ end: OneShot<Void>, _ isUnderWay: Bool) {
    ends.withLock { $0[ObjectIdentifier(end)] = isUnderWay ? end : nil }
    all?.note(end, isUnderWay)
  }
}
