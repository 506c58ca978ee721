import Basics

/// One sign-in that is under way, and whoever waits for it.
final class SignIn: Sendable {
  typealias Outcome = Result<SQToken, SQOAuthError>

  let work = SharedWork<SQToken, SQOAuthError>()
  private let pending = Locked<PendingAuthorization?>(nil)

  /// Tells that the sign-in waits for a redirect from now on.
  func isWaiting(_ pending: PendingAuthorization) {
    self.pending.withLock { $0 = pending }
  }

  /// What an answer would have to carry, once the sign-in waits for one.
  var expectation: AuthorizationResponse.Expectation? { pending.withLock(\.self)?.expectation }

  /// Offers a redirect; `nil` when the sign-in does not wait for one yet.
  func offer(_ redirect: String) -> PendingAuthorization.Offer? {
    pending.withLock(\.self)?.offer(redirect)
  }

  /// Ends the sign-in as soon as it can be; without effect once the token is there.
  func cancel() {
    work.cancel()
  }
}
