import SQFoundation

/// The meaning of a response to a revocation: success, or the reason why the token may still be
/// valid.
///
/// - SeeAlso: RFC 7009, section 2.2
struct RevocationResponse: Sendable {
  let request: RevocationRequest
  let receivedAt: Date

  private static let endpoint = "the revocation endpoint"

  /// Returns normally if the token can no longer be used; throws if it may still be valid.
  func check(_ response: WebResponse) throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try checkAnswer(response)
    } catch {
      throw request.style.hasStandardAuthentication
        ? request.client.explaining(error, after: response, at: receivedAt) : error
    }
  }

  private func checkAnswer(_ response: WebResponse) throws(SQOAuthError) {
    switch response.status {
    case 200..<300 where request.style == .gitHubToken && response.status != 204:
      throw failure(response)
    case 200..<300:
      // Section 2.2: only the status matters and the body is ignored. But the bodies of Slack and
      // Facebook can say "no".
      if request.style == .slackToken { return try checkSlack(response) }
      guard request.style == .facebookPermissions, Self.saysNo(response) else { return }
      throw SQOAuthError(
        .invalidResponse,
        "\(Self.endpoint) answered that it revoked nothing"
          + (SQOAuthError.words(of: response, removing: request.secrets) ?? ""),
        status: response.status)
    case 400... where !WebResponse.isOfServerInTrouble(response.status):
      if request.style == .facebookPermissions { return try checkFacebook(response) }
      if request.style == .gitHubToken { return try checkGitHub(response) }
      guard let error = error(in: response) else { throw failure(response) }
      guard !Self.isOver(error) else { return }
      throw .refusal(by: Self.endpoint, error, response, now: receivedAt)
    case 400...:
      guard let error = error(in: response) else { throw failure(response) }
      throw .refusal(by: Self.endpoint, error, response, now: receivedAt)
    default:
      throw failure(response)
    }
  }

  /// Returns whether an error means that the token had already ended.
  ///
  /// According to section 2.2, an invalid token is not an error. Some servers nevertheless report
  /// an error: `invalid_token`, a code of resource servers, or `invalid_grant`, the code for a
  /// refused refresh. In both cases, the token can no longer be used.
  private static func isOver(_ error: ErrorResponse) -> Bool {
    error.error == .invalidToken || error.error == .invalidGrant
  }

  private func error(in response: WebResponse) -> ErrorResponse? {
    ErrorResponse(body: response.body, removing: request.secrets)
  }

  private func failure(_ response: WebResponse) -> SQOAuthError {
    .failure(of: Self.endpoint, response, now: receivedAt, removing: request.secrets)
  }

  // MARK: Slack

  /// The codes by which Slack says that a token has ended.
  ///
  /// `invalid_auth` is not among them: Slack also sends it to a host that is not allowed to ask.
  private static let slackEnds: Set<String> = [
    "token_revoked", "token_expired", "account_inactive",
  ]

  /// Checks the body of Slack's response; its status says nothing.
  private func checkSlack(_ response: WebResponse) throws(SQOAuthError) {
    let answer = try? JSONReader.value(of: response.body)
    let isRevoked = answer["revoked"] == nil || answer["revoked"].bool == true
    if answer["ok"].bool == true, isRevoked { return }
    guard let error = error(in: response) else {
      throw SQOAuthError(
        .invalidResponse, "\(Self.endpoint) did not answer that it revoked the token",
        status: response.status)
    }
    guard !Self.slackEnds.contains(error.error.rawValue) else { return }
    throw .refusal(by: Self.endpoint, error, response, now: receivedAt)
  }

  // MARK: GitHub

  /// Checks the status of GitHub's refusal, because its body has no code.
  ///
  /// Status 404 means that the token has already ended, for example because the user removed the
  /// app. It does not mean an unknown client, which gets status 401. A web page with status 404 is
  /// not GitHub's answer: the address is wrong.
  private func checkGitHub(_ response: WebResponse) throws(SQOAuthError) {
    switch response.status {
    case 401:
      throw SQOAuthError(
        .invalidClient,
        "\(Self.endpoint) refused the client's identifier or secret"
          + (SQOAuthError.words(of: response, removing: request.secrets) ?? ""),
        status: response.status)
    case 404 where JSONMessage.members(of: response.body) != nil:
      return
    default:
      var error = failure(response)
      error.message += "; if the user has already removed the app there, call signOut"
      throw error
    }
  }

  // MARK: Facebook's Graph API

  /// Returns whether the body is `false`, or an object with an error or with `success` set to
  /// `false`.
  private static func saysNo(_ response: WebResponse) -> Bool {
    let answer = try? JSONReader.value(of: response.body)
    return (answer.bool ?? answer["success"].bool) == false || answer["error"] ?? .null != .null
  }

  /// Throws Facebook's error, unless it means that the token is no longer valid.
  ///
  /// Error 190 of the Graph API means that the token has expired or was revoked.
  private func checkFacebook(_ response: WebResponse) throws(SQOAuthError) {
    let answer = try? JSONReader.value(of: response.body)
    guard let code = answer["error"]["code"].integer else { throw failure(response) }
    guard code != 190 else { return }
    throw SQOAuthError(
      .invalidResponse,
      "\(Self.endpoint) refused with error \(code) of the Graph API"
        + (SQOAuthError.words(of: response, removing: request.secrets) ?? ""),
      status: response.status, retryAfter: RetryAfter.delay(in: response.headers, now: receivedAt))
  }
}
