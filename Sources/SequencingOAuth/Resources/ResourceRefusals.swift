import SQBasics
import SQFoundation

/// What an account remembers of its resource servers' refusals.
struct ResourceRefusals {
  var freshTokens = FreshTokenRefusals()
  var stepUps = StepUps()
}

/// The servers that refused even a fresh token, and so may refuse every token.
///
/// Without this record, each request to such a server would cause a token refresh.
struct FreshTokenRefusals {
  private var backOffs = RecentValues<ResourceOrigin, BackOff>(limit: 100)

  /// Records that a server refused even a fresh token.
  mutating func note(_ origin: ResourceOrigin, _ error: SQOAuthError, at now: Date) {
    // A back-off that ended more than a minute ago does not make the new one longer.
    let previous = backOffs.use(origin).flatMap {
      $0.until.addingTimeInterval(60) < now ? nil : $0
    }
    backOffs.set(origin, to: BackOff(error, after: previous, at: now))
  }

  /// Returns whether refreshes for this server are on hold, because it recently refused a fresh
  /// token.
  mutating func holds(_ origin: ResourceOrigin, at now: Date) -> Bool {
    backOffs.use(origin)?.isInForce(at: now) ?? false
  }
}
