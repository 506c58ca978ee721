import SQBasics
import SequencingOAuth

// Access to the resource for all callers that demand it: one search or sign-in at a time.
extension ResourceClient {
  /// The end of a search or sign-in, for all callers that waited for it.
  struct Gained: Sendable {
    let demand: Demand
    let outcome: Result<Access, SQOAuthError>
    /// Whether a user signed in for it.
    let hasSignedIn: Bool

    /// The access; `nil` after a failure.
    var access: Access? { try? outcome.get() }
  }

  /// Finds the server and signs in, as far as a demand needs it.
  ///
  /// Simultaneous calls with one demand share one sign-in and its result. Any other call waits, and
  /// then looks at the account again.
  ///
  /// - Returns: The access, the user who may complete the demand's request with it, and whether a
  ///   user signed in for it.
  /// - Throws: The error of the waiting request if the access is for another user; the errors of
  ///   the search and the sign-in.
  func gainAccess(
    _ demand: Demand
  ) async throws(SQOAuthError) -> (access: Access, owner: Requester, hasSignedIn: Bool) {
    while true {
      let isOwn = Locked(false)
      let gained = await gaining.value(of: true) {
        isOwn.withLock { $0 = true }
        return await self.gained(demand)
      }
      guard let gained else { throw .waitCancelled }
      guard isOwn.withLock(\.self) || demand.isMet(by: gained) else { continue }
      let access = try gained.outcome.get()
      return (access, try checkOwner(of: demand, access.module), gained.hasSignedIn)
    }
  }

  private func gained(_ demand: Demand) async -> Gained {
    let end = OneShot<Void>()
    let earlier = latestEnd.withLock { latest in
      defer { latest = end }
      return latest
    }
    defer { end.resolve(()) }
    // A cancelled sign-in has no callers any more, but it still restores the account's client.
    await earlier?.wait()
    do throws(SQOAuthError) {
      let (access, hasSignedIn) = try await access(for: demand)
      return Gained(demand: demand, outcome: .success(use(access)), hasSignedIn: hasSignedIn)
    } catch {
      return Gained(demand: demand, outcome: .failure(error), hasSignedIn: false)
    }
  }

  private func access(
    for demand: Demand
  ) async throws(SQOAuthError) -> (Access, hasSignedIn: Bool) {
    // Another process, or another client of the same accounts, may have become another client.
    if demand.kind == .client || known?.isCurrent == false { forget() }
    if let access = try await access() {
      try checkOwner(of: demand, access.module)
      switch demand.kind {
      case .token where demand.accepts(access.module.currentToken): return (access, false)
      case .client where access.hasRecordOfItsClient: return (access, false)
      case .stepUp: return (access, try await stepUp(access, demand))
      case .signIn, .token, .client: break
      }
    }
    if let waiting = demand.waiting {
      guard options.interaction != .none else { throw waiting.error }
      if case .stepUp = demand.kind { throw waiting.error }
    }
    return try await newAccess(demand)
  }

  /// Signs the user in with the additional scopes or the login that the resource demands; returns
  /// `false` if a newer token is enough.
  private func stepUp(_ access: Access, _ demand: Demand) async throws(SQOAuthError) -> Bool {
    guard let error = demand.waiting?.error, var configuration = access.module.configuration,
      var signIn = try access.module.stepUpOptions(
        answering: error, with: SignInOptions(), repeatsGrants: true)
    else { return false }
    // Another process may have bound the account's tokens.
    configuration.tokenBinding = configuration.tokenBinding ?? access.binding
    // Some servers grant `offline_access` without naming it in the response, so ask for it again.
    let server = try? await access.module.providerMetadata()
    signIn.scope = signIn.scope.map { addingOffline(to: $0.words, server, access.client) }
      .map { $0.joined(separator: " ") }
    try await restoringOnFailure(access.module) { () throws(SQOAuthError) in
      try await self.signIn(signIn, access, configuration, demand)
    }
    return true
  }
}
