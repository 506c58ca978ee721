/// tmp
public final class CurlHTTPClient: HTTPClient {
  /// tmp
  public static let shared = CurlHTTPClient()
  /// tmp
  public func send(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPResponse { throw SQOAuthError(.connectionFailed, "tmp") }
}
