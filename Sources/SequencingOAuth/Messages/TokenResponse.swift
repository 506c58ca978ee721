#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the token endpoint's answer: a token, or the reason why there is none.
///
/// - SeeAlso: RFC 6749, section 5
struct TokenResponse: Sendable {
  let parser: any TokenResponseParser
  let context: TokenResponseContext
  /// What the request held and no error may repeat, though a server put it there.
  var secrets = SentSecrets([])

  func read(_ response: HTTPResponse) throws(SQOAuthError) -> SQToken {
    switch response.status {
    case 200..<300:
      // Some servers report errors with status 200; none of their bodies may pass for a token.
      if let error = errorResponse(in: response) { throw refusal(error, response) }
      guard !Self.hasErrorMember(response) else {
        throw SQOAuthError(
          .invalidResponse, "the token response holds an error that is not OAuth's",
          status: response.status)
      }
      return try parse(response)
    case 300..<400:
      throw .redirectRefused(by: "the token endpoint", status: response.status)
    default:
      if let error = errorResponse(in: response) { throw refusal(error, response) }
      throw failure(response)
    }
  }

  private func parse(_ response: HTTPResponse) throws(SQOAuthError) -> SQToken {
    do {
      return try parser.token(from: response, context: context)
    } catch let error as SQOAuthError {
      throw error.with(status: response.status)
    } catch {
      throw SQOAuthError(
        .invalidResponse, "the app's token response parser refused the response", cause: error,
        status: response.status)
    }
  }

  private struct ErrorBody: Decodable {
    let error: String
    let errorDescription: String?
    let errorURI: String?

    enum CodingKeys: String, CodingKey {
      case error
      case errorDescription = "error_description"
      case errorURI = "error_uri"
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      error = try container.decode(String.self, forKey: .error)
      // The texts only help a developer; one of another type does not hide the code.
      errorDescription = try? container.decode(String.self, forKey: .errorDescription)
      errorURI = try? container.decode(String.self, forKey: .errorURI)
    }
  }

  private func errorResponse(in response: HTTPResponse) -> ErrorResponse? {
    guard let body: ErrorBody = try? JSONMessage.decode(response.body, as: "error response"),
      !body.error.isEmpty
    else { return nil }
    return ErrorResponse(
      error: secrets.removed(from: body.error),
      errorDescription: body.errorDescription.map(secrets.removed(from:)),
      errorURI: body.errorURI.map(secrets.removed(from:)))
  }

  private struct AnyError: Decodable {
    let error: JSONValue?
  }

  private static func hasErrorMember(_ response: HTTPResponse) -> Bool {
    let body: AnyError? = try? JSONMessage.decode(response.body, as: "token response")
    return body?.error != nil && body?.error != .null
  }

  private func refusal(_ error: ErrorResponse, _ response: HTTPResponse) -> SQOAuthError {
    SQOAuthError(
      error.error,
      error.errorDescription.map { "the token endpoint says: \($0)" }
        ?? "the token endpoint refused the request", response: error, status: response.status,
      retryAfter: retryAfter(response))
  }

  private func retryAfter(_ response: HTTPResponse) -> Duration? {
    RetryAfter.delay(in: response.headers, now: context.receivedAt)
  }

  private func failure(_ response: HTTPResponse) -> SQOAuthError {
    let status = response.status
    return switch status {
    case 400, 401, 403:
      SQOAuthError(
        .requestRefused,
        "the token endpoint refused the request with status \(status) and gave no OAuth error; "
          + "check the client's identifier, secret and authentication", status: status)
    case 429, 503:
      SQOAuthError(
        .temporarilyUnavailable, "the token endpoint is busy (status \(status)); try again later",
        status: status, retryAfter: retryAfter(response))
    case 500...:
      SQOAuthError(
        .serverError, "the token endpoint failed with status \(status)", status: status,
        retryAfter: retryAfter(response))
    default:
      SQOAuthError(
        .invalidResponse, "the token endpoint answered with status \(status); check its address",
        status: status)
    }
  }
}

extension SQOAuthError {
  /// The same error with the status of the response that it was found in.
  func with(status: Int) -> SQOAuthError {
    SQOAuthError(
      code, message, cause: cause, response: response, status: self.status ?? status,
      challenge: challenge, retryAfter: retryAfter)
  }

  /// A redirect where none is followed: whoever it names must not get the request.
  static func redirectRefused(by name: String, status: Int) -> SQOAuthError {
    SQOAuthError(
      .redirectRefused,
      "\(name) answered with a redirect (status \(status)), which is not followed; "
        + "give the final address", status: status)
  }
}
