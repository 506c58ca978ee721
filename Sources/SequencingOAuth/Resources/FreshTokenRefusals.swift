#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The servers that refused a fresh token, and so may refuse every token.
///
/// Without this record, each request to such a server would cost the authorization server a
/// refresh.
struct FreshTokenRefusals {
  private static let limit = 100

  private var backOffs: [ResourceOrigin: BackOff] = [:]

  /// Records that a server refused even a fresh token.
  mutating func note(_ origin: ResourceOrigin, _ error: SQOAuthError, at now: Date) {
    // A server that refused nothing for a minute starts from the beginning.
    let previous = backOffs[origin].flatMap { $0.until.addingTimeInterval(60) < now ? nil : $0 }
    if backOffs.count >= Self.limit { backOffs = [:] }
    backOffs[origin] = BackOff(error, after: previous, at: now)
  }

  /// Whether to refresh no token on this server's word, since it refused a fresh one a short time
  /// ago.
  func holds(_ origin: ResourceOrigin, at now: Date) -> Bool {
    backOffs[origin]?.isInForce(at: now) ?? false
  }
}
