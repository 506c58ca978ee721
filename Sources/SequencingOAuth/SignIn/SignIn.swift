import Basics

/// A sign-in that is under way, with its result for all callers that wait for it.
final class SignIn: Sendable {
  typealias Outcome = Result<SQToken, SQOAuthError>

  let options: SignInOptions
  let work = SharedWork<SQToken, SQOAuthError>()
  private let pending = Locked<PendingAuthorization?>(nil)

  init(_ options: SignInOptions) {
    self.options = options
  }

  /// Notes that the sign-in now waits for a redirect.
  func isWaiting(_ pending: PendingAuthorization) {
    self.pending.withLock { $0 = pending }
  }

  /// The values that an answer must carry; `nil` until the sign-in waits for one.
  var expectation: AuthorizationResponse.Expectation? { pending.withLock(\.self)?.expectation }

  /// Offers a redirect; returns `nil` if the sign-in does not wait for one yet.
  func offer(_ redirect: String) -> PendingAuthorization.OfferResult? {
    pending.withLock(\.self)?.offer(redirect)
  }

  /// Cancels the sign-in as soon as possible; does nothing once the token has arrived.
  func cancel() {
    work.cancel()
  }
}
