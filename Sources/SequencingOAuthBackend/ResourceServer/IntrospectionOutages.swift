import SQBasics
import SQFoundation
import SequencingOAuth

/// The failures of an introspection endpoint, and the pause after each.
///
/// Without these pauses, each request to a service would cause a request to a server that is down,
/// and would wait for the failure.
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

  /// The pause if the server does not ask for a longer one.
  static let rest = Duration.seconds(1)
  /// The longest pause that the server may ask for.
  static let longestRest = Duration.seconds(30)

  /// The failure that concerns every token.
  private var outage: Outage?
  /// The digest of the first token whose request got no response, since the server last responded.
  private var unanswered: Data?
  /// The failures that one token may have caused, by the token's digest.
  private var ofTokens = RecentValues<Data, Outage>(limit: 1000)

  /// Returns the error for a request that must not be sent now; `nil` if it may be sent.
  mutating func failure(for digest: Data, at now: Duration) -> SQOAuthError? {
    if let outage, outage.isInForce(at: now) { return outage.error }
    guard let outage = ofTokens.use(digest), outage.isInForce(at: now) else { return nil }
    return outage.error
  }

  /// Records that the server has responded.
  mutating func answered() {
    outage = nil
    unanswered = nil
  }

  /// Records a failed request.
  ///
  /// Anyone may send a token that makes the server fail, and this must not affect requests about
  /// other tokens. So only a failure that no token can cause counts for all tokens. A firewall may
  /// break the connection because of a token, so a request without a response counts for all only
  /// if the requests about two tokens get none.
  mutating func note(_ error: SQOAuthError, for digest: Data, at now: Duration) {
    if error.status != nil { unanswered = nil }
    // After any other error, the server works, so no pause is needed.
    guard error.isOutage || error.status == 401 else { return }
    let outage = Outage(error, at: now)
    let concernsAll: Bool
    if let status = error.status {
      concernsAll = [401, 429, 502, 503, 504].contains(status)
    } else {
      concernsAll = unanswered.map { $0 != digest } ?? false
      unanswered = unanswered ?? digest
    }
    if concernsAll {
      self.outage = outage
    } else {
      ofTokens.set(digest, to: outage)
    }
  }
}
