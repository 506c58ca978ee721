import SQBasics
import SQFoundation

/// The meaning of the token endpoint's response: a token, or the reason why there is none.
///
/// - SeeAlso: RFC 6749, section 5
struct TokenResponse: Sendable {
  let parser: any TokenResponseParser
  let context: TokenResponseContext
  /// The request; no error may contain its secrets, even if the server repeats them.
  let request: TokenRequest
  /// The key to which the token must be bound; `nil` for a Bearer token.
  var proofKey: ProofKey?

  private static let endpoint = "the token endpoint"
  private var secrets: SentSecrets { request.secrets }

  /// Returns the refresh token of a response whose token cannot be used; `nil` if there is none.
  ///
  /// The server may have replaced the refresh token that it received; then the old one is no longer
  /// valid. So the refresh token counts even if the SDK refuses the rest of the response, for
  /// example because it is nested too deeply, is too long, or has another member twice.
  ///
  /// - SeeAlso: RFC 6749, section 6
  func refreshToken(in response: WebResponse) -> String? {
    guard (200..<300).contains(response.status),
      let members = members(of: response)
        ?? OuterMembers.values(of: ["refresh_token", "error", "ok"], in: response.body),
      !Self.saysError(members), saysOK(members),
      let refreshToken = lifted(members)["refresh_token"]?.string, !refreshToken.isEmpty,
      refreshToken.isPrintableASCII
    else { return nil }
    return refreshToken
  }

  /// The size of the largest response that is read as a whole.
  private static let largestBody = 1 << 20

  func read(_ response: WebResponse) throws(SQOAuthError) -> SQToken {
    do throws(SQOAuthError) {
      guard response.body.count <= Self.largestBody else {
        throw SQOAuthError(
          .responseTooLarge,
          "\(Self.endpoint) sent more than the \(Self.largestBody) bytes that a token response may "
            + "have", status: response.status)
      }
      return try bound(try checked(try token(in: response)))
    } catch {
      let error = proofKey == nil ? error.namingTokenBinding : error
      throw request.client.explaining(error, after: response, at: context.receivedAt)
    }
  }

  private func lifted(_ members: [String: JSONValue]) -> [String: JSONValue] {
    context.quirks.contains(.tokenInAuthedUser) ? AuthedUser.lifted(members) : members
  }

  private func members(of response: WebResponse) -> [String: JSONValue]? {
    response.body.count <= Self.largestBody ? JSONMessage.members(of: response.body) : nil
  }

  /// Returns the token if it is for the expected user.
  private func checked(_ token: SQToken) throws(SQOAuthError) -> SQToken {
    guard let expected = context.expectedSubject else { return token }
    guard let subject = token.additionalFields["sub"]?.string else {
      throw SQOAuthError(
        .idTokenSubject,
        "the token response names no user (\"sub\"), so the token may be of a user other than "
          + "\(expected.printable)")
    }
    guard subject == expected else {
      throw SQOAuthError(
        .idTokenSubject,
        "the token response names a user (\"sub\") other than \(expected.printable); sign in as "
          + "\(expected.printable)")
    }
    return token
  }

  /// Returns the token with the key to which the server has bound it.
  ///
  /// - Throws: ``SQOAuthError/Code/tokenNotBound`` if the server did not bind the token to the key.
  private func bound(_ token: SQToken) throws(SQOAuthError) -> SQToken {
    guard let proofKey, token.isAccessToken else { return token }
    // RFC 9449, section 5: any other type means that the token is not bound.
    guard token.isOfTypeDPoP else {
      throw SQOAuthError(
        .tokenNotBound,
        "the token type is \"\(secrets.removed(from: token.tokenType).printable)\", but a token "
          + "bound to the account's key (DPoP) was asked for; without the configuration's "
          + "tokenBinding or FAPI profile, a new sign-in accepts such a token")
    }
    return token.bound(to: proofKey)
  }

  private func token(in response: WebResponse) throws(SQOAuthError) -> SQToken {
    guard !(300..<400).contains(response.status) else { throw failure(response) }
    let members = JSONMessage.members(of: response.body)
    // Some servers report errors with status 200; such a body must not be treated as a token.
    if let members = members ?? formMembers(response, members), Self.saysError(members),
      let error = ErrorResponse(members: members, removing: secrets)
    {
      throw .refusal(by: Self.endpoint, error, response, now: context.receivedAt)
    }
    guard (200..<300).contains(response.status) else { throw failure(response) }
    guard !Self.saysError(members ?? [:]) else {
      throw SQOAuthError(
        .invalidResponse,
        "the token response has an \"error\" that is no OAuth error code\(words(response))",
        status: response.status)
    }
    guard members.map(saysOK) ?? true else {
      throw SQOAuthError(
        .invalidResponse, "the token response does not say \"ok\": true\(words(response))",
        status: response.status)
    }
    return try parse(response, members)
  }

  /// Returns whether a message contains an error, in any form.
  ///
  /// Some servers write `null` or an empty text for no error.
  private static func saysError(_ members: [String: JSONValue]) -> Bool {
    ![nil, .null, ""].contains(members["error"])
  }

  /// Returns whether the member `ok` is `true`, or the provider's responses have no such member.
  private func saysOK(_ members: [String: JSONValue]) -> Bool {
    !context.quirks.contains(.okMember) || members["ok"]?.bool == true
  }

  /// Returns the fields of a response that is a form; `nil` for any other response.
  private func formMembers(
    _ response: WebResponse, _ members: [String: JSONValue]?
  ) -> [String: JSONValue]? {
    context.isForm(response, members) ? try? FormMessage.members(of: response.body) : nil
  }

  private func parse(
    _ response: WebResponse, _ members: [String: JSONValue]?
  ) throws(SQOAuthError) -> SQToken {
    var context = self.context
    context.secrets = secrets
    do {
      return try parser.token(from: response, members: members, context: context)
    } catch var error as SQOAuthError {
      // Some servers refuse with status 200, and some with a JSON array: add their explanation to
      // the error.
      if members?["access_token"] == nil { error.message += words(response) }
      // The message may contain member names or the token type from the response. The server chose
      // them, so they may hold a secret.
      throw error.with(status: response.status, removing: secrets)
    } catch {
      throw SQOAuthError(
        .invalidResponse, "the app's token response parser refused the response", cause: error,
        status: response.status)
    }
  }

  private func failure(_ response: WebResponse) -> SQOAuthError {
    guard [400, 401, 403].contains(response.status) else {
      return .failure(
        of: Self.endpoint, response, now: context.receivedAt, removing: secrets)
    }
    let words = SQOAuthError.words(of: response, removing: secrets)
    return SQOAuthError(
      .requestRefused,
      "the token endpoint refused the request with status \(response.status)"
        + (words
          ?? " and sent no OAuth error; check the client's identifier, secret and authentication"),
      status: response.status)
  }

  private func words(_ response: WebResponse) -> String {
    SQOAuthError.words(of: response, removing: secrets) ?? ""
  }
}

extension SQToken {
  /// Whether the issued token is an access token; an exchange may return a token of another type.
  ///
  /// - SeeAlso: RFC 8693, section 2.2.1
  fileprivate var isAccessToken: Bool {
    let type = additionalFields["issued_token_type"]
    return type.map { $0.string == TokenType.accessToken.rawValue } ?? true
  }
}
