import LoopbackHTTP

/// One sign-in that is under way, and whoever waits for it.
final class SignIn: Sendable {
  typealias Outcome = Result<SQToken, SQOAuthError>

  let work = SharedWork<SQToken>()
  private let pending = Locked<PendingAuthorization?>(nil)

  /// Tells that the sign-in waits for a redirect from now on.
  func isWaiting(_ pending: PendingAuthorization) {
    self.pending.withLock { $0 = pending }
  }

  /// Offers a redirect; `true` where it was the answer.
  func offer(_ redirect: String) -> Bool {
    guard let pending = pending.withLock(\.self) else { return false }
    return pending.offer(redirect) == .taken
  }

  /// Ends the sign-in as soon as it can be; without effect once the token is there.
  func cancel() {
    work.cancel()
  }
}
