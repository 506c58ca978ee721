import SQBasics

/// A client that sends HTTP requests to servers and returns their responses.
///
/// ``CurlTransport`` is the default on Linux. To use its own client, an app must implement only the
/// method ``send(_:)``. A client follows no redirects, keeps no cookies and no cache, and returns
/// every response, with any status. Several tasks may call it at the same time.
///
/// A client has these duties, which `brokenDuties()` of the library `SequencingOAuthTesting`
/// checks:
///
/// - It sends the method, the URL, the fields and the content unchanged, for each of the four kinds
///   of ``WebRequestBody``. It calls the closure of a stream once.
/// - It sends each request only once, even if the response is lost or has the status 429 or 5xx. A
///   refresh token that is sent twice may end the user's session.
/// - It adds `Accept-Encoding` and decompresses the content.
/// - It brings the content to the request's ``HTTPDestination``. A file gets the mode 0600, and a
///   link in its place is an error.
/// - It ends with ``SQOAuthError/Code/responseTooLarge`` if the decompressed content is larger than
///   ``WebRequest/maximumResponseBytes``.
/// - It fails at once if the response breaks off or if the server cannot be reached.
/// - Without a ``WebRequest/timeout``, it ends after ``WebRequest/idleTimeout`` without a byte.
/// - It ends soon after its task was cancelled.
/// - It calls ``WebRequest/progress``; the last call counts all bytes.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns the complete response.
  ///
  /// An app's own client may throw any error. If the error is not an ``SQOAuthError``, the SDK
  /// reports ``SQOAuthError/Code/connectionFailed`` with that error as its cause.
  /// Cancelling the task ends the request with ``SQOAuthError/Code/cancelled``. A client can ignore
  /// the request's ``WebRequest/timeout``: when the limit has passed, the SDK cancels the request
  /// and reports ``SQOAuthError/Code/requestTimedOut``.
  func send(_ request: WebRequest) async throws -> WebResponse

  /// Sends a request that the caller can end while its task continues.
  ///
  /// The client calls `whenStarted` at most once, with a closure that ends this request with
  /// ``SQOAuthError/Code/cancelled``. That closure may be called on any thread, even after the
  /// request has ended.
  ///
  /// The default implementation runs the request in a separate task and cancels that task.
  /// Implement the method if the client can end a request without a task; this makes small requests
  /// faster.
  func send(
    _ request: WebRequest, whenStarted: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async throws -> WebResponse
}

extension HTTPTransport {
  /// Sends a request in a separate task and passes `whenStarted` a closure that cancels the task.
  public func send(
    _ request: WebRequest, whenStarted: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async throws -> WebResponse {
    let interruption = Interruption()
    whenStarted(interruption.raise)
    return try await interruption.result { try await send(request) }.get()
  }
}
