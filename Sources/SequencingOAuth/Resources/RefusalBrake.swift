#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Servers that refused a token that was fresh, and so may refuse every one.
///
/// Without it each request to such a server would cost the authorization server a refresh.
struct RefusalBrake {
  private static let limit = 100

  private var backOffs: [ResourceOrigin: BackOff] = [:]

  /// Takes note that a server refused a fresh token, too.
  mutating func note(_ origin: ResourceOrigin, _ error: SQOAuthError, at now: Date) {
    // A server that has been content for a minute begins anew.
    let previous = backOffs[origin].flatMap { $0.until.addingTimeInterval(60) < now ? nil : $0 }
    if backOffs.count >= Self.limit { backOffs = [:] }
    backOffs[origin] = BackOff(error, after: previous, at: now)
  }

  /// Whether a token is not to be refreshed because this server refuses it.
  func holds(_ origin: ResourceOrigin, at now: Date) -> Bool {
    backOffs[origin]?.isInForce(at: now) ?? false
  }
}
