import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A token for a program: the members of a token response, with the moment of its expiry.
struct TokenReport: Encodable {
  private let accessToken: String
  private let tokenType: String
  private let expiresAt: String?
  private let expiresIn: Int?
  private let scope: String?
  private let refreshToken: String?

  /// The report of a token; who asks for the access token alone needs no refresh token.
  init(_ token: SQToken, at date: Date, withRefreshToken: Bool = true) {
    accessToken = token.accessToken
    tokenType = token.tokenType
    expiresAt = token.expirationDate?.formatted(.iso8601)
    expiresIn = token.secondsLeft(at: date)
    scope = token.scope
    refreshToken = withRefreshToken ? token.refreshToken : nil
  }

  /// The object in one line; what the server did not send is left out.
  func json() throws(Failure) -> String { try oneLineOfJSON(self) }
}

/// A token for a person, without its secrets.
struct TokenSummary {
  let text: String

  /// The summary of an account's token; without an id it is not kept.
  init(_ token: SQToken, at date: Date, of id: String?, keptIn place: String?) {
    text =
      "Signed in.\n"
      + Fields.text([
        ("account", id?.printable), ("scope", token.scopesInWords),
        ("expires", token.expiryInWords(at: date)), ("kept in", place),
      ]) + (place == nil ? "\nNothing is kept: the account ends with this run." : "")
  }
}

extension SQToken {
  /// The scopes with spaces between them, safe to show.
  var scopesInWords: String {
    scopes.isEmpty ? "not told" : scopes.joined(separator: " ").printable
  }

  /// How many seconds the token has left; none is 0.
  func secondsLeft(at date: Date) -> Int? {
    expirationDate.map { Int(clamping: $0.timeIntervalSince(date)) }
  }

  /// When the token expires, seen from a moment.
  func expiryInWords(at date: Date) -> String {
    guard let expirationDate else { return "not told" }
    let seconds = expirationDate.timeIntervalSince(date)
    return seconds <= 0 ? "now" : "in \(Self.inWords(seconds: Int(clamping: seconds.rounded(.up))))"
  }

  /// A number of seconds in the largest units that say enough.
  static func inWords(seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
    default: seconds < 172_800 ? "1 day" : "\(seconds / 86_400) days"
    }
  }
}

extension Int {
  /// A number of seconds from 0 on; a store's file may hold a date that no Int can count to.
  fileprivate init(clamping seconds: Double) {
    self = Int(Swift.max(0, Swift.min(seconds, 1e15)))
  }
}
