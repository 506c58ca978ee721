import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The logout tokens that this process has accepted, so that each counts once.
///
/// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.6
final class UsedLogoutTokens: Sendable {
  private struct Name: Hashable {
    let issuer: String
    let identifier: String
  }

  /// The most tokens that are remembered; those that expire first are forgotten first.
  private static let limit = 10_000

  private let used = Locked<[Name: Date]>([:])

  /// Notes a token; throws if it was used before.
  func use(
    _ token: LogoutToken, tolerance: Duration, at now: Date
  ) throws(SQOAuthError) {
    let name = Name(issuer: token.issuer, identifier: token.identifier)
    let end = token.expirationDate.addingTimeInterval(tolerance.seconds)
    let isNew = used.withLock { used in
      guard used[name] == nil else { return false }
      if used.count >= Self.limit {
        used = used.filter { $0.value > now }
        if used.count >= Self.limit, let first = used.min(by: { $0.value < $1.value })?.key {
          used[first] = nil
        }
      }
      used[name] = end
      return true
    }
    guard isNew else {
      throw SQOAuthError(
        .logoutTokenInvalid, "the logout token was used before; no session ended")
    }
  }
}
