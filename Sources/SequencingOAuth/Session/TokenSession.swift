import LoopbackHTTP

/// The token of one account: what is in memory, and its record in the store.
///
/// Changes of the store are made in the order in which they were asked for. An end makes everything
/// that began before it void: a token that arrives late is neither kept nor stored.
final class TokenSession: Sendable {
  private typealias Write = Task<Result<Void, SQOAuthError>, Never>

  private struct State {
    var token: SQToken?
    /// How often the session was ended.
    var ends = 0
    /// The last change of the store that was asked for.
    var write: Write?

    mutating func enqueue(
      _ body: @escaping @Sendable () async throws(SQOAuthError) -> Void
    ) -> Write {
      let previous = write
      // A task of its own: a caller that gives up must not tear a change off half-way.
      let next = Task { () -> Result<Void, SQOAuthError> in
        _ = await previous?.value
        do throws(SQOAuthError) {
          return .success(try await body())
        } catch {
          return .failure(error)
        }
      }
      write = next
      return next
    }
  }

  /// A stretch between two ends of the session.
  struct Epoch: Sendable, Hashable {
    fileprivate let ends: Int
  }

  private let state = Locked(State())

  /// The current token, from any thread.
  var token: SQToken? { state.withLock(\.token) }

  /// The present stretch; whatever may bring a token notes it when it begins.
  var epoch: Epoch { Epoch(ends: state.withLock(\.ends)) }

  /// Takes over a token that was asked for in an epoch: into the store, then into memory.
  ///
  /// A store that fails is reported, and the token is kept in memory all the same, since the server
  /// may never give it again. Where the session was ended meanwhile, it is cancelled.
  func adopt(
    _ record: AccountRecord, of epoch: Epoch, store: any TokenStore
  ) async throws(SQOAuthError) {
    let write = state.withLock { state -> Write? in
      guard state.ends == epoch.ends else { return nil }
      return state.enqueue { () throws(SQOAuthError) in
        try await store.attempt("save the token") { try await $0.save(record) }
      }
    }
    guard let outcome = await write?.value else { throw .signInCancelled }
    let isKept = state.withLock { state in
      guard state.ends == epoch.ends else { return false }
      state.token = record.token
      return true
    }
    guard isKept else { throw .signInCancelled }
    try outcome.get()
  }

  /// Forgets the token: in memory at once, and in the store when the returned task has ended.
  @discardableResult
  func end(id: String, store: any TokenStore) -> Task<Result<Void, SQOAuthError>, Never> {
    state.withLock { state in
      state.token = nil
      state.ends += 1
      return state.enqueue { () throws(SQOAuthError) in
        try await store.attempt("erase the account") { try await $0.erase(id) }
      }
    }
  }
}
