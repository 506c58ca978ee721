import SQBasics
import SQFoundation
import SequencingOAuth

/// A token as JSON for a program: the members of a token response and the expiration date.
struct TokenReport: Encodable {
  private let accessToken: String
  private let tokenType: String
  /// `true` for a token that needs a proof with each request; otherwise `nil`.
  private let bound: Bool?
  private let expiresAt: String?
  private let expiresIn: Int?
  private let scope: String?
  private let refreshToken: String?

  /// Creates the report of a token, with or without the refresh token.
  init(_ token: SQToken, at date: Date, withRefreshToken: Bool = true) {
    accessToken = token.accessToken
    tokenType = token.tokenType
    bound = token.isBound ? true : nil
    expiresAt = token.expirationDate?.formatted(.iso8601)
    expiresIn = token.secondsLeft(at: date)
    scope = token.scope
    refreshToken = withRefreshToken ? token.refreshToken : nil
  }

  /// Returns the JSON object on one line, without members that the server did not send.
  func json() throws(Failure) -> String { try oneLineOfJSON(self) }
}

extension TokenReport: Redacted {}

/// A token as text for the user, without its secrets.
struct TokenSummary {
  let text: String

  /// Creates the summary of an account's token and its user.
  ///
  /// If the account is not kept, `id` and `place` are `nil`.
  init(
    _ token: SQToken, of user: SignedInUser?, at date: Date, account id: String?,
    keptIn place: String?
  ) {
    text =
      (user?.shownName.map { "Hello, \($0.onScreen).\n" } ?? "") + "Signed in.\n"
      + Fields.text([
        ("account", id?.onScreen), ("scope", token.scopesInWords),
        ("token", token.bindingInWords), ("expires", token.expiryInWords(at: date)),
        ("kept in", place),
      ]) + (place == nil ? "\nThe account is not kept: it ends with this run." : "")
  }
}

extension SQToken {
  /// The scopes separated by spaces, safe to show.
  var scopesInWords: String {
    scopes.isEmpty ? "not known" : scopes.joined(separator: " ").onScreen
  }

  /// The way in which the token is bound to a key, in words; `nil` for a Bearer token.
  var bindingInWords: String? {
    proofKey.map { "bound to a key (DPoP, \($0.algorithm.onScreen))" }
  }

  /// Returns the seconds until the token expires: 0 if it has expired, `nil` if the time is not
  /// known.
  func secondsLeft(at date: Date) -> Int? {
    expirationDate.map { Int(clamping: $0.timeIntervalSince(date)) }
  }

  /// Returns the time until the token expires, in words.
  func expiryInWords(at date: Date) -> String {
    expirationDate?.inWords(from: date) ?? "not known"
  }

  /// The moment from which the user must sign in again; `nil` if the server has not named it.
  var signInEnd: Date? {
    [refreshToken == nil ? nil : refreshTokenExpirationDate, authorizationExpirationDate]
      .compactMap(\.self).min()
  }

  /// Returns a number of seconds in words with one or two units, such as `5 min 3 s` or `2 days`.
  static func inWords(seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
    default: seconds < 172_800 ? "1 day" : "\(seconds / 86_400) days"
    }
  }
}

extension Date {
  /// Returns the time from `date` until this date, in words, such as `in 3 days`.
  ///
  /// Returns `now` if this date has passed.
  func inWords(from date: Date) -> String {
    let seconds = timeIntervalSince(date)
    return seconds <= 0
      ? "now" : "in \(SQToken.inWords(seconds: Int(clamping: seconds.rounded(.up))))"
  }

  /// Returns the time from `date` until this date, and this date itself: `in 3 days, at
  /// 2026-01-04T00:00:00Z`.
  func momentInWords(from date: Date) -> String {
    "\(inWords(from: date)), at \(formatted(.iso8601))"
  }
}

extension Int {
  /// Creates a number of seconds that is never negative and that has an upper limit, because a
  /// distant date could exceed an `Int`.
  fileprivate init(clamping seconds: Double) {
    self = Int(Swift.max(0, Swift.min(seconds, 1e15)))
  }
}
