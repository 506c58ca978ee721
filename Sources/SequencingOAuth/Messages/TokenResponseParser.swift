import SQBasics
public import SQFoundation

/// The facts that a parser needs in addition to the token response itself.
public struct TokenResponseContext: Sendable {
  /// The moment the response arrived; `expires_in` counts from it.
  public let receivedAt: Date
  /// The requested scope: the token's scope if the response contains no `scope`.
  public let requestedScope: String?
  /// The deviations from RFC 6749 that the parser accepts.
  public let quirks: TokenResponseQuirks
  /// Whether the client asked for a token of the type `DPoP`, which is bound to a key.
  ///
  /// - SeeAlso: RFC 9449, section 5
  public let isForBoundToken: Bool
  /// The user whom the response must name in `sub`; `nil` for any.
  var expectedSubject: String?
  /// The secrets of the request, which no error may contain.
  var secrets = SentSecrets([])

  /// Creates a context for one response.
  public init(
    receivedAt: Date, requestedScope: String?, quirks: TokenResponseQuirks = [],
    isForBoundToken: Bool = false
  ) {
    self.isForBoundToken = isForBoundToken
    self.receivedAt = receivedAt
    self.requestedScope = requestedScope
    self.quirks = quirks
  }

  /// Returns whether to parse a response as a form; a JSON object is never parsed as a form.
  func isForm(_ response: WebResponse, _ members: [String: JSONValue]?) -> Bool {
    quirks.contains(.formEncoded) && !JSONMessage.isJSON(response) && members == nil
  }
}

/// A parser that creates a token from a successful token response.
///
/// The SDK calls the parser once for each response with a 2xx status and no OAuth error, on any
/// thread. If the parser throws, the grant fails and nothing is stored. If it throws an
/// ``SQOAuthError``, the app's error has the same code, without the request's secrets in its
/// message. Any other error becomes the cause of an ``SQOAuthError/Code/invalidResponse`` error.
/// After a refresh, the new token takes a missing refresh token, scope or additional field from the
/// earlier token. Your own parser can call ``StandardTokenResponseParser`` and add to its result.
public protocol TokenResponseParser: Sendable {
  /// Returns the token from one response.
  func token(from response: WebResponse, context: TokenResponseContext) throws -> SQToken

  /// Returns the token from a response whose body the SDK has already decoded.
  ///
  /// The SDK calls this method. Its default implementation ignores the members and calls
  /// ``token(from:context:)``. Implement it to avoid decoding the body a second time. `members` are
  /// the members of the body's JSON object, or `nil` if the body is not a JSON object.
  func token(
    from response: WebResponse, members: [String: JSONValue]?, context: TokenResponseContext
  ) throws -> SQToken
}

extension TokenResponseParser {
  /// Returns the token from ``token(from:context:)``, and ignores the members.
  public func token(
    from response: WebResponse, members: [String: JSONValue]?, context: TokenResponseContext
  ) throws -> SQToken {
    try token(from: response, context: context)
  }
}

/// A parser for token responses according to RFC 6749, section 5.1.
///
/// A refresh token that is not a text counts as missing. If the scope is neither a text nor a list
/// of texts, the token's scope is unknown.
public struct StandardTokenResponseParser: TokenResponseParser {
  /// Creates a parser without settings.
  public init() {}

  /// Returns the token from one response; throws if it has no usable access token.
  ///
  /// It also throws if the content type is not JSON, or if the token's type is missing or unknown,
  /// unless the context's quirks allow that; if the lifetime is malformed; or if the refresh token
  /// has a forbidden character.
  public func token(
    from response: WebResponse, context: TokenResponseContext
  ) throws(SQOAuthError) -> SQToken {
    try token(from: response, members: nil, context: context)
  }

  /// Returns the token from a response whose JSON members, if any, are already decoded.
  ///
  /// If `members` is `nil`, it decodes the body.
  public func token(
    from response: WebResponse, members known: [String: JSONValue]?,
    context: TokenResponseContext
  ) throws(SQOAuthError) -> SQToken {
    guard !response.body.isEmpty else { throw TokenResponseFault.empty(response) }
    let members = known ?? JSONMessage.members(of: response.body)
    let isForm = context.isForm(response, members)
    var fields =
      isForm
      ? try FormMessage.members(of: response.body)
      : try self.members(of: response, members, context)
    // As in JSON, an error in a form must not be treated as a token.
    guard !isForm || [nil, ""].contains(fields["error"]) else {
      throw SQOAuthError(
        .invalidResponse, "the token response contains \"error\", so it is not used as a token")
    }
    if context.quirks.contains(.tokenInAuthedUser) { fields = AuthedUser.lifted(fields) }
    guard let accessToken = fields["access_token"].string, accessToken.isSendableToken else {
      throw TokenResponseFault.accessToken(in: fields)
    }
    fields["access_token"] = nil
    let tokenType = try tokenType(
      &fields, mayBeMissing: isForm || context.quirks.contains(.missingTokenType),
      context)
    let lifetime = try TokenLifetime.seconds(fields.removeValue(forKey: "expires_in"))
    let refreshToken = fields.takeString("refresh_token")
    // RFC 6749, appendix A.17: the characters of a refresh token.
    if let refreshToken, !refreshToken.isPrintableASCII {
      throw TokenResponseFault.unusable("refresh_token", .string(refreshToken))
    }
    return SQToken(
      accessToken: accessToken,
      expirationDate: lifetime.map { context.receivedAt.addingTimeInterval($0) },
      tokenType: tokenType,
      scope: takeScope(from: &fields, context),
      // An empty refresh token counts as missing, because a request could not carry it.
      refreshToken: refreshToken?.isEmpty == true ? nil : refreshToken,
      issueDate: context.receivedAt,
      additionalFields: fields)
  }

  private func members(
    of response: WebResponse, _ known: [String: JSONValue]?, _ context: TokenResponseContext
  ) throws(SQOAuthError) -> [String: JSONValue] {
    guard JSONMessage.isJSON(response) || context.quirks.contains(.anyContentType) else {
      throw TokenResponseFault.contentType(response, known, removing: context.secrets)
    }
    if let known { return known }
    return try JSONMessage.members(of: response.body, as: "token response")
  }

  private func tokenType(
    _ fields: inout [String: JSONValue], mayBeMissing: Bool, _ context: TokenResponseContext
  ) throws(SQOAuthError) -> String {
    guard let type = fields.takeString("token_type") else {
      guard mayBeMissing else { throw TokenResponseFault.tokenType }
      return "Bearer"
    }
    // RFC 6749, section 7.1: a client must not use a type that it does not understand.
    switch type.asciiLowercased() {
    case "bearer": return type
    case "dpop" where context.isForBoundToken: return type
    case "dpop": throw TokenResponseFault.boundTokenType
    case "user" where context.quirks.contains(.userTokenType): return "Bearer"
    case "bot" where context.quirks.contains(.botTokenType): return "Bearer"
    default: throw TokenResponseFault.tokenType(type, context)
    }
  }

  /// Removes and returns the scope: the response's scope, or else the requested scope.
  ///
  /// - SeeAlso: RFC 6749, section 5.1
  private func takeScope(
    from fields: inout [String: JSONValue], _ context: TokenResponseContext
  ) -> String? {
    let scope = fields.scope(ifMissing: context.requestedScope)
    // A value that is not a list of scopes stays in the fields, because the app may understand it.
    if fields["scope"] == .null || fields["scope"]?.scope != nil {
      fields.removeValue(forKey: "scope")
    }
    guard context.quirks.contains(.commaSeparatedScopes) else { return scope }
    return scope?.unicodeScalars.split { $0 == "," || $0 == " " }.map(String.init)
      .joined(separator: " ")
  }
}

extension [String: JSONValue] {
  /// Removes a string member and returns it; `nil` if it is missing or not a string.
  fileprivate mutating func takeString(_ name: String) -> String? {
    guard let value = self[name].string else {
      if self[name] == .null { removeValue(forKey: name) }
      return nil
    }
    removeValue(forKey: name)
    return value
  }
}
