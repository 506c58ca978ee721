/// The departures from RFC 6749 that the SDK accepts in a provider's token responses.
///
/// The default is none: then a page of HTML, or the JSON of another service, is never taken for a
/// token.
public struct TokenResponseQuirks: OptionSet, Sendable, Hashable {
  /// The set's bits, one for each departure.
  public let rawValue: Int

  /// Makes a set of departures from their bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The response has no `token_type`: its token is taken for a Bearer token.
  public static let missingTokenType = Self(rawValue: 1 << 0)
  /// The response is JSON, but its content type is not.
  public static let anyContentType = Self(rawValue: 1 << 1)
  /// The response is a form, `access_token=…&expires=…`, instead of JSON, as old Graph APIs
  /// answered.
  public static let formEncoded = Self(rawValue: 1 << 2)
}
