import Basics

// Tokens of a client that acts in its own name, for which no user signs in.
extension TokenSession {
  /// Gets the first token of a client that acts in its own name, or waits while another caller does.
  ///
  /// The request goes on when the caller's task is cancelled: the others get its token. A failure is
  /// theirs too.
  func obtain() async throws(SQOAuthError) {
    let (epoch, begun) = state.withLock { state -> (Int, SessionState.Takeover?) in
      guard state.core.record == nil, state.core.changeUnderWay == nil else {
        return (state.core.dismissals, nil)
      }
      return (state.core.dismissals, state.core.beginTakeover().0)
    }
    // The next step waits for the caller that is getting the token already.
    guard let takeover = begun else { return }
    Task { await self.obtain(takeover, of: epoch) }
    guard await takeover.end.value() != nil else { throw .waitCancelled }
  }

  private func obtain(_ takeover: SessionState.Takeover, of epoch: Int) async {
    do throws(SQOAuthError) {
      let endpoint = try await context.endpoint()
      let scope = endpoint.configuration.scope
      let token = try await ClientCredentialsGrant(endpoint: endpoint).run(scope: scope)
      let record = context.record(
        of: token, from: endpoint, .clientCredentials(scope: scope), id: accountID)
      try await takeOver(record, of: epoch)
    } catch {
      let now = now
      state.withLock { $0.core.fail(takeover, error, at: now) }
    }
    takeover.end.resolve(())
  }
}
