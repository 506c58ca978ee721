import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The facts that a parser needs besides the token response itself.
public struct TokenResponseContext: Sendable {
  /// When the response arrived; `expires_in` counts from this moment.
  public let receivedAt: Date
  /// The scope that the request asked for; it is the token's scope if the response has no `scope`.
  public let requestedScope: String?
  /// The departures from RFC 6749 that the parser accepts.
  public let quirks: TokenResponseQuirks

  /// Makes a context for one response.
  public init(receivedAt: Date, requestedScope: String?, quirks: TokenResponseQuirks = []) {
    self.receivedAt = receivedAt
    self.requestedScope = requestedScope
    self.quirks = quirks
  }

  /// Whether to read a response as a form; a body that is a JSON object is none.
  func isForm(_ response: HTTPResponse, _ members: [String: JSONValue]?) -> Bool {
    quirks.contains(.formEncoded) && !JSONMessage.isJSON(response) && members == nil
  }
}

/// Reads a token from a successful token response.
///
/// The SDK calls it once for each response with a status of 2xx and no OAuth error, on any thread.
/// An error that it throws ends the grant, and nothing is stored: an ``SQOAuthError`` is passed on
/// as it is, any other as the cause of ``SQOAuthError/Code/invalidResponse``. After a refresh, the
/// new token gets the refresh token, the scope and the further fields that it lacks from the
/// earlier token. A parser of your own may call ``StandardTokenResponseParser`` and add to its
/// result.
public protocol TokenResponseParser: Sendable {
  /// Reads the token from one response.
  func token(from response: HTTPResponse, context: TokenResponseContext) throws -> SQToken

  /// Reads one response whose body the SDK has decoded already.
  ///
  /// This is the method that the SDK calls. The default ignores the members and calls
  /// ``token(from:context:)``. Implement it if the parser would decode the body a second time.
  /// `members` are the members of the body's JSON object; `nil` if the body is not a JSON object.
  func token(
    from response: HTTPResponse, members: [String: JSONValue]?, context: TokenResponseContext
  ) throws -> SQToken
}

extension TokenResponseParser {
  /// Reads one response by ``token(from:context:)``, without its members.
  public func token(
    from response: HTTPResponse, members: [String: JSONValue]?, context: TokenResponseContext
  ) throws -> SQToken {
    try token(from: response, context: context)
  }
}

/// Reads token responses by RFC 6749, section 5.1, and checks every field that the SDK uses.
public struct StandardTokenResponseParser: TokenResponseParser {
  /// Makes the parser, which has no settings.
  public init() {}

  /// Reads the token from one response, and throws ``SQOAuthError`` if a field is missing or
  /// malformed.
  public func token(
    from response: HTTPResponse, context: TokenResponseContext
  ) throws(SQOAuthError) -> SQToken {
    try token(from: response, members: nil, context: context)
  }

  /// Reads the token from a response whose JSON members, if it has any, are already decoded.
  ///
  /// Without members it decodes the body.
  public func token(
    from response: HTTPResponse, members known: [String: JSONValue]?,
    context: TokenResponseContext
  ) throws(SQOAuthError) -> SQToken {
    guard !response.body.isEmpty else { throw TokenResponseFault.empty(response) }
    let members = known ?? JSONMessage.members(of: response.body)
    let isForm = context.isForm(response, members)
    var fields =
      isForm
      ? try FormMessage.members(of: response.body)
      : try self.members(of: response, members, quirks: context.quirks)
    // As with JSON, a form that has an error must not be taken for a token.
    guard !isForm || [nil, ""].contains(fields["error"]) else {
      throw SQOAuthError(.invalidResponse, "the token response has an error")
    }
    guard let accessToken = fields["access_token"].string, accessToken.isSendableToken else {
      throw TokenResponseFault.accessToken(in: fields)
    }
    fields["access_token"] = nil
    let tokenType = try tokenType(
      &fields, mayBeMissing: isForm || context.quirks.contains(.missingTokenType))
    let lifetime = try TokenLifetime.seconds(fields.removeValue(forKey: "expires_in"))
    let refreshToken = fields.takeString("refresh_token")
    if let refreshToken, !Self.isRefreshToken(refreshToken) {
      throw TokenResponseFault.unusable("refresh_token", .string(refreshToken))
    }
    return SQToken(
      accessToken: accessToken,
      expirationDate: lifetime.map { context.receivedAt.addingTimeInterval($0) },
      tokenType: tokenType,
      scope: takeScope(from: &fields, context),
      // An empty refresh token counts as none, since a request could not carry it.
      refreshToken: refreshToken?.isEmpty == true ? nil : refreshToken,
      issueDate: context.receivedAt,
      additionalFields: fields)
  }

  /// Whether each character of a text may stand in a refresh token.
  ///
  /// - SeeAlso: RFC 6749, appendix A.17
  static func isRefreshToken(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  private func members(
    of response: HTTPResponse, _ known: [String: JSONValue]?, quirks: TokenResponseQuirks
  ) throws(SQOAuthError) -> [String: JSONValue] {
    guard JSONMessage.isJSON(response) || quirks.contains(.anyContentType) else {
      throw TokenResponseFault.contentType(response, known)
    }
    if let known { return known }
    return try JSONMessage.members(of: response.body, as: "token response")
  }

  private func tokenType(
    _ fields: inout [String: JSONValue], mayBeMissing: Bool
  ) throws(SQOAuthError) -> String {
    guard let type = fields.takeString("token_type") else {
      guard mayBeMissing else { throw TokenResponseFault.tokenType }
      return "Bearer"
    }
    // RFC 6749, section 7.1: a client must not use a type that it does not understand.
    guard type.asciiLowercased() == "bearer" else { throw TokenResponseFault.tokenType(type) }
    return type
  }

  /// RFC 6749, section 5.1: without a scope in the response, the token has the one that was asked
  /// for.
  private func takeScope(
    from fields: inout [String: JSONValue], _ context: TokenResponseContext
  ) -> String? {
    let scope = fields.scope(ifMissing: context.requestedScope)
    // A value that names no scopes stays for the app, which may be able to read it.
    if fields["scope"] == .null || fields["scope"]?.scope != nil {
      fields.removeValue(forKey: "scope")
    }
    return scope
  }
}

extension [String: JSONValue] {
  /// Removes a string member and returns it; `nil` if it is missing or `null`.
  fileprivate mutating func takeString(_ name: String) -> String? {
    guard let value = self[name].string else {
      if self[name] == .null { removeValue(forKey: name) }
      return nil
    }
    removeValue(forKey: name)
    return value
  }
}
