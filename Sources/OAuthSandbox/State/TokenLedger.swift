import SQBasics
import SQFoundation

/// All issued codes and tokens, and their state.
///
/// All tokens from one permission, of a user or of a client itself, belong to one grant. If a code
/// or a rotated refresh token is used a second time, the whole grant is revoked.
///
/// Because a sandbox may run for weeks, useless entries are removed after a day: expired codes and
/// access tokens, and exchanged refresh tokens. At least the last 5000 ID tokens are kept. Grants
/// are never removed.
struct TokenLedger: Redacted {
  /// A permission of a user, or of a client itself, for which tokens are issued.
  struct Grant: Sendable {
    let clientID: String
    /// The user who gave the permission; `nil` if the client has no user.
    let user: String?
    let scopes: [String]
    /// The content of ID tokens about the user; `nil` without the scope `openid`.
    var identity: Identity?
    /// The user's login; `nil` if the client has no user.
    var signIn: UserSignIn?
    /// The services that accept the tokens; empty for the sandbox itself.
    var audiences: [String] = []
    /// The objects of `authorization_details` that were granted.
    var details: [SandboxJSON] = []
    /// The party that acts for the user, in the form of the claim `act` (RFC 8693, section 4.1).
    var actor: SandboxJSON?
    /// When the permission ends; `nil` for never.
    var end: Date?
    var isRevoked = false
  }

  struct Code {
    let clientID: String
    let user: String
    let scopes: [String]
    /// The redirect URI of the authorization request, which the token request must repeat.
    let redirectURI: String
    let challenge: String?
    /// The thumbprint of the key that the code is bound to.
    let keyThumbprint: String?
    let details: [SandboxJSON]
    let identity: Identity?
    let signIn: UserSignIn
    /// The resources that the authorization request named.
    let resources: [String]
    let expiry: Date
    /// The grant that began when the code was redeemed; `nil` before that.
    var grant: Int?
    var isUsed = false
  }

  struct AccessToken {
    let grant: Int
    let scopes: [String]
    let details: [SandboxJSON]
    /// The services that accept the token; empty for the sandbox itself.
    let audiences: [String]
    /// The thumbprint of the key that the token is bound to; `nil` for a Bearer token.
    let keyThumbprint: String?
    let issued: Date
    var expiry: Date?
    var isRevoked = false
  }

  struct RefreshToken {
    let grant: Int
    /// The number of refresh tokens issued before this one.
    let number: Int
    /// The thumbprint of the key that the token is bound to.
    let keyThumbprint: String?
    /// The date when an unused refresh token expires; `nil` if it never expires.
    var end: Date?
    /// The date when the refresh token was exchanged for a new one.
    var used: Date?

    /// Whether the refresh token was exchanged for a new one.
    var isUsed: Bool { used != nil }
  }

  private(set) var grants: [Grant] = []
  private(set) var accessTokens: [String: AccessToken] = [:]
  private(set) var refreshTokens: [String: RefreshToken] = [:]
  /// The grant of each issued ID token.
  private var idTokens: [String: (grant: Int, number: Int)] = [:]
  /// The number of issued ID tokens.
  private var idTokenCount = 0
  var codes: [String: Code] = [:]
  /// The newest refresh token of all grants.
  private(set) var latestRefreshToken: String?
  /// The newest refresh token of each grant.
  private var latestOfGrant: [Int: String] = [:]
  /// The number of issued refresh tokens.
  private var issues = 0
  /// The number of tokens and codes at which the next sweep removes old ones.
  private var sizeOfNextSweep = leastSweep
  /// The number of times that an exchanged refresh token was used again.
  private(set) var reuses = 0

  mutating func open(_ grant: Grant) -> Int {
    grants.append(grant)
    return grants.count - 1
  }

  mutating func remember(
    accessToken token: String, of grant: Int, scopes: [String], details: [SandboxJSON] = [],
    audiences: [String] = [], keyThumbprint: String?, lifetime: Duration?, now: Date
  ) {
    forgetOld(at: now)
    accessTokens[token] = AccessToken(
      grant: grant, scopes: scopes, details: details, audiences: audiences,
      keyThumbprint: keyThumbprint, issued: now,
      expiry: lifetime.map { now.addingTimeInterval($0.timeInterval) })
  }

  mutating func issueRefreshToken(grant: Int, keyThumbprint: String?) -> String {
    let token = Crypto.secret("refresh-")
    refreshTokens[token] = RefreshToken(grant: grant, number: issues, keyThumbprint: keyThumbprint)
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

  mutating func end(refreshToken: String, of grant: Int, at dates: (token: Date?, grant: Date?)) {
    refreshTokens[refreshToken]?.end = dates.token
    grants[grant].end = dates.grant
  }

  mutating func markUsed(refreshToken: String, at now: Date) {
    refreshTokens[refreshToken]?.used = now
  }

  // MARK: Forgetting

  /// The number of tokens and codes below which nothing is removed.
  static let leastSweep = 1000

  /// The number of ID tokens at which the older half is removed.
  static let mostIDTokens = 10_000

  /// The number of stored access tokens, refresh tokens and codes.
  var size: Int { accessTokens.count + refreshTokens.count + codes.count }

  /// Removes entries that have been useless for a day, if there are many.
  private mutating func forgetOld(at now: Date) {
    guard size >= sizeOfNextSweep else { return }
    let start = now.addingTimeInterval(-86_400)
    accessTokens = accessTokens.filter { $0.value.expiry.isLater(than: start) }
    refreshTokens = refreshTokens.filter { $0.value.used.isLater(than: start) }
    codes = codes.filter { $0.value.expiry > start }
    // Wait until the number of entries has doubled, so that sweeps are rare.
    sizeOfNextSweep = max(Self.leastSweep, 2 * size)
  }

  // MARK: The newest refresh token

  /// Returns the newest refresh token of the grant that a token belongs to.
  func latestRefreshToken(inFamilyOf token: String) -> String? {
    (refreshTokens[token]?.grant ?? accessTokens[token]?.grant).flatMap { latestOfGrant[$0] }
  }

  /// Returns the newest refresh token of a user, issued to one client or, if `client` is `nil`, to
  /// any.
  func latestRefreshToken(for user: String, client: String?) -> String? {
    let found = latestOfGrant.filter { id, _ in
      grants[id].user == user && (client == nil || grants[id].clientID == client)
    }
    return found.values.max { refreshTokens[$0]?.number ?? 0 < refreshTokens[$1]?.number ?? 0 }
  }

  // MARK: Valid tokens

  func activeAccessToken(_ token: String, at now: Date) -> (token: AccessToken, grant: Grant)? {
    guard let found = accessTokens[token], !found.isRevoked, !grants[found.grant].isRevoked,
      found.expiry.isLater(than: now)
    else { return nil }
    return (found, grants[found.grant])
  }

  func activeRefreshToken(
    _ token: String, at now: Date
  ) -> (token: RefreshToken, grant: Grant)? {
    guard let found = refreshTokens[token], !found.isUsed, !grants[found.grant].isRevoked,
      found.end.isLater(than: now), grants[found.grant].end.isLater(than: now)
    else { return nil }
    return (found, grants[found.grant])
  }

  // MARK: Revoking

  /// Revokes the whole grant of a refresh token that was used twice, because a thief may have it.
  mutating func noteReuse(of token: RefreshToken) {
    reuses += 1
    revoke(grant: token.grant)
  }

  mutating func revoke(grant: Int) {
    grants[grant].isRevoked = true
  }

  /// Revokes all grants of a client.
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

extension Date? {
  /// Returns whether this date is later than another; `nil` is later than every date.
  func isLater(than date: Date) -> Bool { map { $0 > date } ?? true }
}
