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
  private static let limit = 100

  private var backOffs: [ResourceOrigin: BackOff] = [:]

  /// Records that a server refused even a fresh token.
  mutating func note(_ origin: ResourceOrigin, _ error: SQOAuthError, at now: Date) {
    // A back-off that ended more than a minute ago does not make the new one longer.
    let previous = backOffs[origin].flatMap { $0.until.addingTimeInterval(60) < now ? nil : $0 }
    if backOffs.count >= Self.limit { backOffs = [:] }
    backOffs[origin] = BackOff(error, after: previous, at: now)
  }

  /// Returns whether refreshes for this server are on hold, because it recently refused a fresh
  /// token.
  func holds(_ origin: ResourceOrigin, at now: Date) -> Bool {
    backOffs[origin]?.isInForce(at: now) ?? false
  }
}
