/// Carries requests to servers and brings back what they answer.
///
/// ``CurlHTTPClient`` is the default on Linux; an app may bring its own. A client follows no redirect, keeps no cookie and no cache, and returns any status as a
/// response. It may be called from any task, any number of times at once.
public protocol HTTPClient: Sendable {
  /// Sends a request and returns when its response is complete.
  ///
  /// A client that is not ours may throw any error: the SDK reports one that is not an
  /// ``SQOAuthError`` as ``SQOAuthError/Code/connectionFailed`` with that error as its cause.
  /// Cancelling the task ends the request with ``SQOAuthError/Code/cancelled``.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse
}
