import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// A cache of access tokens whose signatures were verified, by the tokens' digests.
///
/// A caller sends the same token with each request, and verifying its signature takes most of a
/// check's time. A cached token is used only while the issuer still publishes the keys that
/// verified it.
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

  private let entries = Locked(RecentValues<Data, Entry>(limit: limit))

  /// The number of tokens in memory.
  var count: Int { entries.withLock(\.count) }

  /// Returns the token's digest; `nil` if the token is too long to be remembered.
  static func digest(of token: String) -> Data? {
    token.utf8.count <= maximumLength ? Digest.sha256(token) : nil
  }

  /// Returns the entry of a token that was verified before; `nil` for any other token.
  func entry(of digest: Data) -> Entry? { entries.withLock { $0.use(digest) } }

  func keep(_ entry: Entry, of digest: Data) { entries.withLock { $0.set(digest, to: entry) } }
}
