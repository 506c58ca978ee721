public import SQBasics
public import SQFoundation
import SequencingOAuth

/// A validated logout token: a provider's message to the app's server that a user has logged out.
///
/// Only the SDK creates this value, and only from a logout token that passed every rule. The token
/// names one session at the provider, or all sessions of a user.
///
/// - SeeAlso: OpenID Connect Back-Channel Logout 1.0
public struct LogoutToken: Sendable, Hashable {
  /// The identifier of the provider (`iss`).
  public let issuer: String
  /// The user who logged out (`sub`); `nil` if the token names a session only.
  public let subject: String?
  /// The session that ended (`sid`); `nil` if all sessions of the user ended.
  public let sessionID: String?
  /// The identifier of the token (`jti`); the SDK accepts each identifier once.
  public let identifier: String
  /// The moment when the provider issued the token (`iat`).
  public let issueDate: Date
  /// The moment when the token stops being valid (`exp`).
  ///
  /// Drafts of the specification had no such claim, and some providers still send none. Their
  /// tokens are valid for two minutes, the longest lifetime that the specification recommends.
  public let expirationDate: Date
  /// The client that the token was validated for; the token may end only this client's sessions.
  let clientID: String

  /// The member of `events` that makes a JWT a logout token.
  private static let event = "http://schemas.openid.net/event/backchannel-logout"
  /// The lifetime of a token without `exp`, in seconds.
  private static let life = 120.0

  /// Creates a logout token from the claims of a verified JWT, if they pass every rule.
  init(
    _ claims: [String: JSONValue], issuer expected: String, clientID: String,
    clockTolerance: Duration, now: Date
  ) throws(SQOAuthError) {
    let reader = ClaimReader(
      claims: claims, subject: SignedText.logoutToken.name, missing: .logoutTokenInvalid,
      malformed: .logoutTokenInvalid)
    self.clientID = clientID
    issuer = try reader.required("iss", reader.text)
    let audience = try reader.required("aud", reader.audience)
    issueDate = try reader.required("iat", reader.date)
    expirationDate = try reader.date("exp") ?? issueDate.addingTimeInterval(Self.life)
    identifier = try reader.required("jti", reader.text)
    subject = try reader.possibleText("sub")
    sessionID = try reader.possibleText("sid")

    func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(SQOAuthError) {
      guard condition else {
        throw SQOAuthError(.logoutTokenInvalid, "the logout token \(reason()); no session ended")
      }
    }
    try require(
      issuer == expected,
      "is from another issuer: it names \"\(issuer.printable)\" and not \"\(expected.printable)\"")
    try require(audience.contains(clientID), "is for another client")
    try require(claims["events"]?[Self.event]?.object != nil, "has no logout event")
    try require(subject != nil || sessionID != nil, "names neither a user nor a session")
    // Only an ID token has a nonce, and an ID token must not be accepted as a logout token.
    try require(claims["nonce"] ?? .null == .null, "has a nonce")
    let clock = ClaimClock(now: now, tolerance: clockTolerance)
    try require(!clock.hasEnded(expirationDate), "has expired")
    try require(!clock.isAhead(issueDate), "was issued in the future")
  }

  /// The search key for a store: the user if the token names one, otherwise the session.
  var sessionName: SessionName {
    if let subject { return .user(issuer: issuer, subject: subject) }
    // A token names a user, a session or both.
    return .session(issuer: issuer, id: sessionID ?? "")
  }

  /// Returns whether the token names the session of a record that belongs to the token's client.
  ///
  /// Another client of the same program gets its own logout token.
  func names(_ record: AccountRecord) -> Bool {
    guard record.clientID == clientID, let user = record.token.idToken, user.issuer == issuer,
      subject == nil || subject == user.subject
    else { return false }
    // Without a session, the token names all sessions of the user.
    guard let sessionID else { return true }
    // A provider may send the session in logout tokens only. If it is the session of this account,
    // the user must not stay signed in.
    guard let own = record.providerSessionID else { return subject != nil }
    return own == sessionID
  }
}

extension LogoutToken: Redacted {
  /// The issuer only, because a log must not name the user.
  public var description: String { "LogoutToken(issued by \(issuer.printable))" }
}
