/// Departures from RFC 6749 that a provider's token responses may be forgiven, one by one.
///
/// None by default: a strict reader refuses a page of HTML or another service's JSON before it is
/// taken for a token.
public struct TokenResponseQuirks: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: Int

  /// Makes a set of quirks from bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// No `token_type`: the token is taken for a Bearer token.
  public static let missingTokenType = Self(rawValue: 1 << 0)
  /// JSON under a content type that is not JSON's.
  public static let anyContentType = Self(rawValue: 1 << 1)
  /// `access_token=…&expires=…` in form encoding in place of JSON, as old Graph APIs answered.
  public static let formEncoded = Self(rawValue: 1 << 2)
}
