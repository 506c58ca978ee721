import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The failures of an introspection endpoint, and for how long it is left alone after each.
///
/// Without this record, each request to a service would cost a request to a server that is down,
/// and the time until that fails.
struct IntrospectionOutages: Sendable {
  private struct Outage: Sendable {
    let error: SQOAuthError
    let since: Duration
    let until: Duration

    init(_ error: SQOAuthError, at now: Duration) {
      self.error = error
      since = now
      until = now + min(max(error.retryAfter ?? .zero, rest), longestRest)
    }

    func isInForce(at now: Duration) -> Bool { since <= now && now < until }
  }

  /// How long the server is left alone if it does not say how long.
  static let rest = Duration.seconds(1)
  /// The longest rest that the server may ask for; a revoked token must not wait for long.
  static let longestRest = Duration.seconds(30)

  /// The failure that concerns every token.
  private var outage: Outage?
  /// The failures that may lie in the token that was asked about.
  private var ofTokens = RecentValues<Data, Outage>(limit: 1000)

  /// The error for a question that must not be asked now.
  mutating func failure(for digest: Data, at now: Duration) -> SQOAuthError? {
    if let outage, outage.isInForce(at: now) { return outage.error }
    guard let outage = ofTokens.use(digest), outage.isInForce(at: now) else { return nil }
    return outage.error
  }

  /// Notes that the server has answered a question.
  mutating func answered() {
    outage = nil
  }

  /// Notes a failed question.
  ///
  /// Anyone may send a token that makes a server fail, and must not keep others out by it. So only
  /// a failure to which no token can lead counts for all.
  mutating func note(_ error: SQOAuthError, for digest: Data, at now: Duration) {
    // A server that answers, even if wrongly, needs no rest.
    guard error.isOutage || error.status == 401 else { return }
    let outage = Outage(error, at: now)
    let concernsAll =
      error.status == 401 || error.isOutage && [nil, 429, 502, 503, 504].contains(error.status)
    if concernsAll {
      self.outage = outage
    } else {
      ofTokens.set(digest, to: outage)
    }
  }
}
