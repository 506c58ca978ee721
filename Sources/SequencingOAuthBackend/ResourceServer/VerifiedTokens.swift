import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// A cache of access tokens whose signatures were verified, by the tokens' digests.
///
/// A caller sends the same token with each request, and verifying its signature takes most of a
/// check's time. A cached token is used only while the issuer still publishes the keys that
/// verified it. Looking up these keys takes longer than all other checks of a cached token, so the
/// SDK looks them up at most once a second.
final class VerifiedTokens: Sendable {
  /// The claims of a token, and the keys that verified it.
  struct Entry: Sendable {
    let claims: AccessTokenClaims
    let keys: IssuerKeys
  }

  /// The number of tokens to remember.
  static let limit = 2000
  /// The maximum length of a token to remember, in bytes.
  static let maximumLength = 8192

  /// How long the issuer's keys count as current after they were looked up.
  private static let currentTime = Duration.seconds(1)

  private struct State {
    var entries = RecentValues<Data, Entry>(limit: VerifiedTokens.limit)
    /// The issuer's keys at the last look-up, and the clock's steady time then.
    var current: (keys: IssuerKeys, at: Duration)?
  }

  private let state = Locked(State())

  /// The number of tokens in memory.
  var count: Int { state.withLock(\.entries.count) }

  /// Returns the token's digest; `nil` if the token is too long to be remembered.
  static func digest(of token: String) -> Data? {
    token.utf8.count <= maximumLength ? Digest.sha256(token) : nil
  }

  /// Returns the entry of a token that was verified before; `nil` for any other token.
  ///
  /// `isCurrent` is `true` if the issuer's keys were looked up less than a second ago and were the
  /// entry's keys.
  func entry(of digest: Data, at now: Duration) -> (entry: Entry, isCurrent: Bool)? {
    state.withLock { state in
      guard let entry = state.entries.use(digest) else { return nil }
      guard let current = state.current, current.at <= now, now < current.at + Self.currentTime
      else { return (entry, false) }
      return (entry, current.keys.isCopy(of: entry.keys))
    }
  }

  /// Keeps a token's entry; the entry's keys must be the issuer's current keys.
  func keep(_ entry: Entry, of digest: Data, at now: Duration) {
    state.withLock { state in
      state.entries.set(digest, to: entry)
      state.current = (entry.keys, now)
    }
  }
}
