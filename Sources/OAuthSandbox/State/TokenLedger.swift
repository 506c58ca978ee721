import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Every code and token that was issued, and what became of it.
///
/// All that comes from one permission, a user's or a client's own, belongs to one grant; when a code
/// or a rotated refresh token is used a second time, the whole grant ends.
struct TokenLedger: Redacted {
  /// A permission.
  struct Grant: Sendable {
    let clientID: String
    /// `nil` where a client acts for itself.
    let user: String?
    let scopes: [String]
    var isRevoked = false
  }

  struct Code {
    let clientID: String
    let user: String
    let scopes: [String]
    /// As it stood in the authorization request; the token request must repeat it.
    let redirectURI: String
    let challenge: String?
    let expiry: Date
    /// The grant that it was redeemed for.
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
    /// How many were issued before it.
    let number: Int
    /// Whether it was exchanged for another.
    var isUsed = false
  }

  private(set) var grants: [Grant] = []
  private(set) var accessTokens: [String: AccessToken] = [:]
  private(set) var refreshTokens: [String: RefreshToken] = [:]
  var codes: [String: Code] = [:]
  /// The refresh token that was issued last.
  private(set) var latestRefreshToken: String?
  /// The one that was issued last for each grant.
  private var latestOfGrant: [Int: String] = [:]
  /// How often a refresh token was used that had been exchanged before.
  private(set) var reuses = 0

  mutating func open(_ grant: Grant) -> Int {
    grants.append(grant)
    return grants.count - 1
  }

  mutating func issueAccessToken(
    grant: Int, scopes: [String], lifetime: Duration?, now: Date
  ) -> String {
    let token = Crypto.secret("access-")
    accessTokens[token] = AccessToken(
      grant: grant, scopes: scopes, issued: now,
      expiry: lifetime.map { now.addingTimeInterval($0.timeInterval) })
    return token
  }

  mutating func issueRefreshToken(grant: Int) -> String {
    let token = Crypto.secret("refresh-")
    refreshTokens[token] = RefreshToken(grant: grant, number: refreshTokens.count)
    latestRefreshToken = token
    latestOfGrant[grant] = token
    return token
  }

  mutating func markUsed(refreshToken: String) {
    refreshTokens[refreshToken]?.isUsed = true
  }

  // MARK: What is newest

  /// The refresh token that was issued last from the permission that a token came from.
  func latestRefreshToken(inFamilyOf token: String) -> String? {
    (refreshTokens[token]?.grant ?? accessTokens[token]?.grant).flatMap { latestOfGrant[$0] }
  }

  /// The refresh token that was issued last for a user, to one client or to any.
  func latestRefreshToken(for user: String, client: String?) -> String? {
    let found = latestOfGrant.filter { id, _ in
      grants[id].user == user && (client == nil || grants[id].clientID == client)
    }
    return found.values.max { refreshTokens[$0]?.number ?? 0 < refreshTokens[$1]?.number ?? 0 }
  }

  // MARK: What is valid

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

  // MARK: What ends

  /// Someone has a refresh token who should not: its whole grant ends.
  mutating func noteReuse(of token: RefreshToken) {
    reuses += 1
    revoke(grant: token.grant)
  }

  mutating func revoke(grant: Int) {
    grants[grant].isRevoked = true
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
