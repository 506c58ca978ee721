import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// All codes and tokens that were issued, and their state.
///
/// All tokens from one permission, given by a user or to a client itself, belong to one grant. If a
/// code or a rotated refresh token is used a second time, the whole grant ends.
///
/// A sandbox may run for weeks, so what can do no more is forgotten a day later: codes and access
/// tokens that have expired, and refresh tokens that were exchanged. Of ID tokens, at least the last
/// 5000 are known. The grants stay.
struct TokenLedger: Redacted {
  /// A permission from which tokens come.
  struct Grant: Sendable {
    let clientID: String
    /// The user who gave the permission; `nil` for a client that acts in its own name.
    let user: String?
    let scopes: [String]
    /// What ID tokens tell about the user; `nil` without the scope `openid`.
    var identity: Identity?
    /// The services that the tokens are for; empty for the sandbox's own.
    var audiences: [String] = []
    /// Who acts for the user, as the claim `act` of a delegation has it.
    var actor: SandboxJSON?
    var isRevoked = false
  }

  struct Code {
    let clientID: String
    let user: String
    let scopes: [String]
    /// The redirect URI as the authorization request had it; the token request must repeat it.
    let redirectURI: String
    let challenge: String?
    let identity: Identity?
    let expiry: Date
    /// The grant for which the code was redeemed.
    var grant: Int?
    var isUsed = false
  }

  struct AccessToken {
    let grant: Int
    let scopes: [String]
    let issued: Date
    var expiry: Date?
    var isRevoked = false
  }

  struct RefreshToken {
    let grant: Int
    /// How many refresh tokens were issued before this one.
    let number: Int
    /// When the refresh token was exchanged for another one.
    var used: Date?

    /// Whether the refresh token was exchanged for another one.
    var isUsed: Bool { used != nil }
  }

  private(set) var grants: [Grant] = []
  private(set) var accessTokens: [String: AccessToken] = [:]
  private(set) var refreshTokens: [String: RefreshToken] = [:]
  /// The grant of each ID token that was issued.
  private var idTokens: [String: (grant: Int, number: Int)] = [:]
  /// How many ID tokens were issued.
  private var idTokenCount = 0
  var codes: [String: Code] = [:]
  /// The newest refresh token of all.
  private(set) var latestRefreshToken: String?
  /// The newest refresh token of each grant.
  private var latestOfGrant: [Int: String] = [:]
  /// How many refresh tokens were issued.
  private var issues = 0
  /// How many tokens and codes there must be before the next look for old ones.
  private var sizeOfNextSweep = leastSweep
  /// How many times a refresh token was used after it had been exchanged.
  private(set) var reuses = 0

  mutating func open(_ grant: Grant) -> Int {
    grants.append(grant)
    return grants.count - 1
  }

  mutating func remember(
    accessToken token: String, of grant: Int, scopes: [String], lifetime: Duration?, now: Date
  ) {
    forgetOld(at: now)
    accessTokens[token] = AccessToken(
      grant: grant, scopes: scopes, issued: now,
      expiry: lifetime.map { now.addingTimeInterval($0.timeInterval) })
  }

  mutating func issueRefreshToken(grant: Int) -> String {
    let token = Crypto.secret("refresh-")
    refreshTokens[token] = RefreshToken(grant: grant, number: issues)
    issues += 1
    latestRefreshToken = token
    latestOfGrant[grant] = token
    return token
  }

  mutating func remember(idToken: String, of grant: Int) {
    idTokenCount += 1
    idTokens[idToken] = (grant, idTokenCount)
    guard idTokens.count >= Self.mostIDTokens else { return }
    let half = idTokenCount - Self.mostIDTokens / 2
    idTokens = idTokens.filter { $0.value.number > half }
  }

  func grant(ofIDToken token: String) -> Grant? { idTokens[token].map { grants[$0.grant] } }

  mutating func markUsed(refreshToken: String, at now: Date) {
    refreshTokens[refreshToken]?.used = now
  }

  // MARK: Forgetting

  /// The number of tokens and codes below which none is forgotten.
  static let leastSweep = 1000

  /// The number of ID tokens from which only the newer half is kept.
  static let mostIDTokens = 10_000

  /// How many tokens and codes are kept.
  var size: Int { accessTokens.count + refreshTokens.count + codes.count }

  /// Forgets what could do nothing for a day, if there is much.
  private mutating func forgetOld(at now: Date) {
    guard size >= sizeOfNextSweep else { return }
    let start = now.addingTimeInterval(-86_400)
    accessTokens = accessTokens.filter { $0.value.expiry.map { $0 > start } ?? true }
    refreshTokens = refreshTokens.filter { $0.value.used.map { $0 > start } ?? true }
    codes = codes.filter { $0.value.expiry > start }
    // Twice the rest, so that the looks cost little.
    sizeOfNextSweep = max(Self.leastSweep, 2 * size)
  }

  // MARK: The newest refresh token

  /// The newest refresh token of the grant that a token belongs to.
  func latestRefreshToken(inFamilyOf token: String) -> String? {
    (refreshTokens[token]?.grant ?? accessTokens[token]?.grant).flatMap { latestOfGrant[$0] }
  }

  /// The newest refresh token of a user, issued to one client or, if `client` is `nil`, to any.
  func latestRefreshToken(for user: String, client: String?) -> String? {
    let found = latestOfGrant.filter { id, _ in
      grants[id].user == user && (client == nil || grants[id].clientID == client)
    }
    return found.values.max { refreshTokens[$0]?.number ?? 0 < refreshTokens[$1]?.number ?? 0 }
  }

  // MARK: Valid tokens

  func activeAccessToken(_ token: String, at now: Date) -> (token: AccessToken, grant: Grant)? {
    guard let found = accessTokens[token], !found.isRevoked, !grants[found.grant].isRevoked,
      found.expiry.map({ $0 > now }) ?? true
    else { return nil }
    return (found, grants[found.grant])
  }

  func activeRefreshToken(_ token: String) -> (token: RefreshToken, grant: Grant)? {
    guard let found = refreshTokens[token], !found.isUsed, !grants[found.grant].isRevoked else {
      return nil
    }
    return (found, grants[found.grant])
  }

  // MARK: Revoking

  /// Ends the whole grant of a refresh token that was used twice, since a thief may have it.
  mutating func noteReuse(of token: RefreshToken) {
    reuses += 1
    revoke(grant: token.grant)
  }

  mutating func revoke(grant: Int) {
    grants[grant].isRevoked = true
  }

  /// Ends all grants of a client.
  mutating func revokeAll(of clientID: String) {
    for grant in grants.indices where grants[grant].clientID == clientID {
      grants[grant].isRevoked = true
    }
  }

  mutating func revoke(accessToken: String) {
    accessTokens[accessToken]?.isRevoked = true
  }

  mutating func revokeEverything() {
    for grant in grants.indices { grants[grant].isRevoked = true }
    for code in codes.keys { codes[code]?.isUsed = true }
  }

  mutating func expireAccessTokens(now: Date) {
    for token in accessTokens.keys { accessTokens[token]?.expiry = now }
  }
}
