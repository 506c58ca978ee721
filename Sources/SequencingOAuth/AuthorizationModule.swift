import LoopbackHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One account with one authorization server: signs its user in and holds its token.
final class AuthorizationModule: Sendable {
  fileprivate struct State {
    var configuration: Result<ClientConfiguration, SQOAuthError>
    var environment: ClientEnvironment
    /// The sign-in that a further call joins.
    var signIn: SignIn?
    /// Callers that wait for it, besides those that started it for good.
    var waiters = 0
    var isKept = false
    /// A cancelled sign-in that has not let go of its port yet.
    var ending: SignIn?
  }

  let accountID: String
  private let session = TokenSession()
  private let state: Locked<State>

  init(
    _ configuration: Result<ClientConfiguration, SQOAuthError>, environment: ClientEnvironment,
    accountID: String
  ) {
    self.accountID = accountID
    state = Locked(State(configuration: configuration, environment: environment))
  }

  /// The current token, from any thread.
  var token: SQToken? { session.token }

  /// The parts that the next operation works with.
  var environment: ClientEnvironment {
    get { state.withLock(\.environment) }
    set { state.withLock { $0.environment = newValue } }
  }

  /// Uses another client from the next operation on; the token stays.
  func configure(_ configuration: Result<ClientConfiguration, SQOAuthError>) {
    state.withLock { $0.configuration = configuration }
  }
}

// MARK: - Signing in

extension AuthorizationModule {
  /// Starts a sign-in for good, or makes the one under way last whoever else gives up.
  ///
  /// `onEnd` is called once, if this call started it.
  func startSignIn(onEnd: @escaping @Sendable (SignIn.Outcome) -> Void) {
    _ = join(keep: true, onEnd: onEnd)
  }

  /// Signs in, or joins the sign-in under way; the last such caller that is cancelled ends it.
  func signIn(
    onEnd: @escaping @Sendable (SignIn.Outcome) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    let signIn = join(keep: false, onEnd: onEnd)
    guard let outcome = await signIn.outcome.value() else {
      leave(signIn)
      throw .signInCancelled
    }
    return try outcome.get()
  }

  /// Whether a sign-in is under way.
  var isSigningIn: Bool { state.withLock { $0.signIn != nil } }

  /// Ends the sign-in under way; a later call starts a new one at once.
  func cancelSignIn() {
    state.withLock { $0.detach() }?.cancel()
  }

  /// Offers a redirect to the sign-in under way.
  func handleRedirect(_ redirect: String) -> Bool {
    state.withLock(\.signIn)?.offer(redirect) ?? false
  }

  private func join(
    keep: Bool, onEnd: @escaping @Sendable (SignIn.Outcome) -> Void
  ) -> SignIn {
    let (signIn, isNew, previous) = state.withLock { state in
      let previous = state.ending
      let isNew = state.signIn == nil
      let signIn = state.signIn ?? SignIn()
      state.signIn = signIn
      state.ending = nil
      state.waiters += keep ? 0 : 1
      state.isKept = state.isKept || keep
      return (signIn, isNew, previous)
    }
    if isNew {
      signIn.start {
        // Two sign-ins of one client may need the same port.
        _ = await previous?.outcome.value()
        let outcome = await self.outcome(of: signIn)
        self.state.withLock { $0.end(signIn) }
        onEnd(outcome)
        signIn.outcome.resolve(outcome)
      }
    }
    return signIn
  }

  private func leave(_ signIn: SignIn) {
    let isAbandoned = state.withLock { state in
      guard state.signIn === signIn else { return false }
      state.waiters -= 1
      guard state.waiters == 0, !state.isKept else { return false }
      _ = state.detach()
      return true
    }
    if isAbandoned { signIn.cancel() }
  }

  private func outcome(of signIn: SignIn) async -> SignIn.Outcome {
    let (configuration, environment) = state.withLock { ($0.configuration, $0.environment) }
    let epoch = session.epoch
    do throws(SQOAuthError) {
      guard !Task.isCancelled else { throw .signInCancelled }
      let configuration = try configuration.get()
      // A store that cannot even be read would lose the token: better known before the browser.
      _ = try await environment.tokenStore.attempt("be read") { try await $0.load(self.accountID) }
      let metadata = try await metadata(of: configuration, environment)
      let grant = AuthorizationCodeGrant(
        configuration: configuration, environment: environment, metadata: metadata,
        isWaiting: { signIn.isWaiting($0) },
        keep: { token throws(SQOAuthError) in
          let record = AccountRecord(
            id: self.accountID, clientID: configuration.clientID, issuer: metadata.issuer,
            token: token)
          try await self.session.adopt(record, of: epoch, store: environment.tokenStore)
        })
      return .success(try await grant.run())
    } catch {
      return .failure(Task.isCancelled ? .signInCancelled : error)
    }
  }

  /// Fetched anew for each sign-in, which is rare: a server's new endpoints are seen, and a
  /// document that made one sign-in fail does not make the next one fail.
  private func metadata(
    of configuration: ClientConfiguration, _ environment: ClientEnvironment
  ) async throws(SQOAuthError) -> ProviderMetadata {
    if let known = configuration.metadata { return known }
    guard case .issuer(let issuer) = configuration.provider.source else {
      throw SQOAuthError(.invalidConfiguration, "the provider has no endpoints")
    }
    return try await Discovery(issuer: issuer, timeout: configuration.timeout)
      .fetch(with: environment.httpClient)
  }
}

// MARK: - Signing out

extension AuthorizationModule {
  /// Cancels the sign-in under way and forgets the token.
  ///
  /// In memory at once, in the store when the returned task has ended. What begins after this call
  /// is not touched.
  @discardableResult
  func signOut() -> Task<Result<Void, SQOAuthError>, Never> {
    cancelSignIn()
    return session.end(id: accountID, store: environment.tokenStore)
  }
}

extension AuthorizationModule.State {
  /// Takes the sign-in out, so that a further call starts a new one.
  fileprivate mutating func detach() -> SignIn? {
    guard let signIn else { return nil }
    end(signIn)
    ending = signIn
    return signIn
  }

  /// Forgets a sign-in that has ended.
  fileprivate mutating func end(_ ended: SignIn) {
    if ending === ended { ending = nil }
    guard signIn === ended else { return }
    signIn = nil
    waiters = 0
    isKept = false
  }
}
