import LoopbackHTTP

/// The token of one account: what is in memory, and its record in the store.
final class TokenSession: Sendable {
  private let state = Locked<SQToken?>(nil)

  /// The current token, from any thread.
  var token: SQToken? { state.withLock(\.self) }

  /// Takes a token over from a grant: into the store, then into memory.
  ///
  /// A store that fails is reported, and the token is kept in memory all the same, since the server
  /// may never give it again.
  func adopt(_ record: AccountRecord, store: any TokenStore) async throws(SQOAuthError) {
    // A caller that gives up must not tear the record off half-way.
    let saving = Task { () -> Result<Void, SQOAuthError> in
      do throws(SQOAuthError) {
        return .success(try await store.attempt("save the token") { try await $0.save(record) })
      } catch {
        return .failure(error)
      }
    }
    let outcome = await saving.value
    state.withLock { $0 = record.token }
    try outcome.get()
  }

  /// Forgets the token in memory.
  func forget() {
    state.withLock { $0 = nil }
  }

  /// Removes the record from the store.
  func erase(id: String, store: any TokenStore) async throws(SQOAuthError) {
    try await store.attempt("erase the account") { try await $0.erase(id) }
  }
}
