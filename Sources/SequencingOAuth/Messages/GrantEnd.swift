import SQFoundation

/// The end of a refresh token or of a user's authorization, as a token response names it.
///
/// - SeeAlso: draft-ietf-oauth-refresh-token-expiration, section 5.1
struct GrantEnd: Sendable, Hashable {
  /// The fields with the number of seconds within which a refresh token must be used.
  ///
  /// The first field is from the draft. Keycloak sends `refresh_expires_in`, Intuit
  /// `x_refresh_token_expires_in`, and many other servers `refresh_token_expires_in`.
  static let refreshTokenFields = [
    "refresh_token_timeout", "refresh_token_expires_in", "refresh_expires_in",
    "x_refresh_token_expires_in",
  ]
  /// The fields with the number of seconds that the user's authorization lasts.
  static let authorizationFields = ["authorization_expires_in"]

  /// The largest difference between two dates that count as the same end, in seconds.
  ///
  /// A server sends whole seconds, and a response takes some time to arrive.
  static let tolerance = 60.0

  /// The moment the refresh token or the authorization ends.
  let date: Date
  /// The seconds from the first response that named this end until the date.
  let lifetime: Double

  /// What a token response says about an end.
  enum Word {
    case nothing
    /// There is no end: Keycloak sends zero for the refresh token of an offline session.
    case never
    case end(GrantEnd)
  }

  /// Reads an end from the first usable field of a response that arrived at `date`.
  ///
  /// A value that is neither a number nor a text of digits counts as missing, so that it does not
  /// make the SDK refuse the token.
  static func word(_ fields: [String], in members: [String: JSONValue], at date: Date?) -> Word {
    guard !members.isEmpty else { return .nothing }
    let values = fields.lazy.compactMap { try? TokenLifetime.seconds(members[$0]) }
    guard let date, let seconds = values.first else { return .nothing }
    return seconds == 0
      ? .never : .end(GrantEnd(date: date.addingTimeInterval(seconds), lifetime: seconds))
  }

  /// Returns this end.
  ///
  /// If `earlier` is the same end, the result has the longer one of the two lifetimes.
  func continuing(_ earlier: GrantEnd?) -> GrantEnd {
    guard let earlier, abs(date.timeIntervalSince(earlier.date)) <= Self.tolerance else {
      return self
    }
    return GrantEnd(date: date, lifetime: max(lifetime, earlier.lifetime))
  }
}

/// The known ends of a token's grant.
struct GrantEnds: Sendable, Hashable {
  /// The end of the refresh token if it stays unused.
  var refreshToken: GrantEnd?
  /// The end of the user's authorization.
  var authorization: GrantEnd?

  /// Creates the ends from an app's dates or, without a date, from the fields of the response.
  init(
    refreshToken: Date?, authorization: Date?, issueDate: Date?, fields: [String: JSONValue]
  ) {
    self.refreshToken = Self.end(
      refreshToken, GrantEnd.refreshTokenFields, issueDate, fields)
    self.authorization = Self.end(
      authorization, GrantEnd.authorizationFields, issueDate, fields)
  }

  private static func end(
    _ date: Date?, _ names: [String], _ issueDate: Date?, _ fields: [String: JSONValue]
  ) -> GrantEnd? {
    if let date {
      return GrantEnd(date: date, lifetime: issueDate.map { date.timeIntervalSince($0) } ?? 0)
    }
    if case .end(let end) = GrantEnd.word(names, in: fields, at: issueDate) { return end }
    return nil
  }

  /// Returns the ends after a refresh whose response has these fields.
  ///
  /// An end in the response replaces the previous end. If the response names no end of the
  /// authorization, the previous end stays. If it names no end of the refresh token, the previous
  /// end stays only with the same refresh token, because it says nothing about a new refresh token.
  func following(
    _ previous: GrantEnds, fields: [String: JSONValue], keepsRefreshToken: Bool, at date: Date?
  ) -> GrantEnds {
    var ends = self
    ends.refreshToken = Self.following(
      refreshToken, keepsRefreshToken ? previous.refreshToken : nil, previous.refreshToken,
      GrantEnd.word(GrantEnd.refreshTokenFields, in: fields, at: date))
    ends.authorization = Self.following(
      authorization, previous.authorization, previous.authorization,
      GrantEnd.word(GrantEnd.authorizationFields, in: fields, at: date))
    return ends
  }

  private static func following(
    _ named: GrantEnd?, _ kept: GrantEnd?, _ previous: GrantEnd?, _ word: GrantEnd.Word
  ) -> GrantEnd? {
    if let named { return named.continuing(previous) }
    if case .never = word { return nil }
    return kept
  }
}
