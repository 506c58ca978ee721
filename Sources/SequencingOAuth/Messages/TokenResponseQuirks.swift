/// The deviations from RFC 6749 that the SDK accepts in a provider's token responses.
///
/// By default, the set is empty, so that an HTML page or the JSON of another service is never
/// treated as a token.
public struct TokenResponseQuirks: OptionSet, Sendable, Hashable {
  /// The set's bits, one for each deviation.
  public let rawValue: Int

  /// Creates a set of deviations from their bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The response has no `token_type`; its token is treated as a Bearer token.
  public static let missingTokenType = Self(rawValue: 1 << 0)
  /// The response is JSON, but its content type is not.
  public static let anyContentType = Self(rawValue: 1 << 1)
  /// The response is a form, `access_token=…&expires=…`, instead of JSON, as from old Graph APIs.
  public static let formEncoded = Self(rawValue: 1 << 2)
  /// The member `scope` has commas between the scopes, as at GitHub.
  public static let commaSeparatedScopes = Self(rawValue: 1 << 3)
  /// The token is in the member `authed_user`, as in Slack's responses with the token of a user.
  ///
  /// If there is also a token in the usual place, it is ignored.
  public static let tokenInAuthedUser = Self(rawValue: 1 << 4)
  /// The `token_type` is `user`, as for Slack's tokens of users; the token is treated as a Bearer
  /// token.
  public static let userTokenType = Self(rawValue: 1 << 5)
  /// The `token_type` is `bot`, as for Slack's tokens of apps; the token is treated as a Bearer
  /// token.
  public static let botTokenType = Self(rawValue: 1 << 6)
  /// The member `ok` is `true` in a success and any other value in an error, whatever the status.
  public static let okMember = Self(rawValue: 1 << 7)
}
