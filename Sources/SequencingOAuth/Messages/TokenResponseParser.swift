import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a token response is read against.
public struct TokenResponseContext: Sendable {
  /// When the response came; expiry counts from here.
  public let receivedAt: Date
  /// What was asked for, which is what the token has where the server does not say.
  public let requestedScope: String?
  /// The departures from RFC 6749 that are forgiven.
  public let quirks: TokenResponseQuirks

  /// Makes a context.
  public init(receivedAt: Date, requestedScope: String?, quirks: TokenResponseQuirks = []) {
    self.receivedAt = receivedAt
    self.requestedScope = requestedScope
    self.quirks = quirks
  }

  /// Whether a response may be in form encoding.
  func isForm(_ response: HTTPResponse) -> Bool {
    quirks.contains(.formEncoded) && !JSONMessage.isJSON(response)
  }
}

/// Makes a token of a successful token response.
///
/// It is called once for each response of status 2xx that holds no OAuth error, on no particular
/// thread. What it throws ends the grant as ``SQOAuthError/Code/invalidResponse`` (an
/// ``SQOAuthError`` passes as it is) and nothing is stored. In a refresh, the token before gives the
/// refresh token, the scope and the further fields that the new one lacks. An app's own parser may
/// call ``StandardTokenResponseParser`` and add to its result.
public protocol TokenResponseParser: Sendable {
  /// Reads one response.
  func token(from response: HTTPResponse, context: TokenResponseContext) throws -> SQToken

  /// Reads one response whose body the SDK has decoded already.
  ///
  /// This is the method that the SDK calls. The default ignores the members and calls
  /// ``token(from:context:)``. Implement it if the parser would decode the body a second time.
  /// `members` are those of the JSON object in the body, `nil` if the body is none.
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

/// The parser of RFC 6749, section 5.1: every field that matters is checked.
public struct StandardTokenResponseParser: TokenResponseParser {
  /// Makes the parser.
  public init() {}

  /// Reads one response.
  public func token(
    from response: HTTPResponse, context: TokenResponseContext
  ) throws(SQOAuthError) -> SQToken {
    try token(from: response, members: nil, context: context)
  }

  /// Reads one response whose body was decoded already; without members it decodes the body.
  public func token(
    from response: HTTPResponse, members known: [String: JSONValue]?,
    context: TokenResponseContext
  ) throws(SQOAuthError) -> SQToken {
    let isForm = context.isForm(response)
    var fields =
      isForm
      ? try FormMessage.members(of: response.body)
      : try members(of: response, known, quirks: context.quirks)
    // As of JSON, none that holds an error may pass for a token.
    guard !isForm || fields["error"] == nil else {
      throw SQOAuthError(.invalidResponse, "the token response holds an error")
    }
    guard let accessToken = fields.takeString("access_token"), accessToken.isSendableToken
    else {
      throw missing("access_token")
    }
    let tokenType = try tokenType(
      &fields, mayBeMissing: isForm || context.quirks.contains(.missingTokenType))
    let lifetime = try TokenLifetime.seconds(fields.removeValue(forKey: "expires_in"))
    let refreshToken = fields.takeString("refresh_token")
    if let refreshToken, !refreshToken.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
      throw missing("refresh_token")
    }
    return SQToken(
      accessToken: accessToken,
      expirationDate: lifetime.map { context.receivedAt.addingTimeInterval($0) },
      tokenType: tokenType,
      // RFC 6749, section 5.1: an absent scope is the one that was asked for.
      scope: fields.takeString("scope") ?? context.requestedScope,
      // An empty one is none: it could not be sent back.
      refreshToken: refreshToken?.isEmpty == true ? nil : refreshToken,
      issueDate: context.receivedAt,
      additionalFields: fields)
  }

  private func members(
    of response: HTTPResponse, _ known: [String: JSONValue]?, quirks: TokenResponseQuirks
  ) throws(SQOAuthError) -> [String: JSONValue] {
    guard JSONMessage.isJSON(response) || quirks.contains(.anyContentType) else {
      throw SQOAuthError(
        .invalidResponse,
        "the token response is not JSON by its content type; check the token endpoint's address",
        status: response.status)
    }
    if let known { return known }
    return try JSONMessage.decode(
      [String: JSONValue].self, from: response.body, as: "token response")
  }

  private func tokenType(
    _ fields: inout [String: JSONValue], mayBeMissing: Bool
  ) throws(SQOAuthError) -> String {
    guard let type = fields.takeString("token_type") else {
      guard mayBeMissing else { throw missing("token_type") }
      return "Bearer"
    }
    // RFC 6749, section 7.1: a client must not use a type that it does not understand.
    guard type.lowercased() == "bearer" else {
      throw SQOAuthError(
        .invalidResponse,
        "the token type is \"\(type.printable)\", but a Bearer token was asked for")
    }
    return type
  }

  private func missing(_ field: String) -> SQOAuthError {
    SQOAuthError(.invalidResponse, "the token response has no usable \"\(field)\"")
  }
}

extension [String: JSONValue] {
  /// Takes a string member out; `null` and an absent member are the same.
  fileprivate mutating func takeString(_ name: String) -> String? {
    guard let value = self[name].string else {
      if self[name] == .null { removeValue(forKey: name) }
      return nil
    }
    removeValue(forKey: name)
    return value
  }
}
