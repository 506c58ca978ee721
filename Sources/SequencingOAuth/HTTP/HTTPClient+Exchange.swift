import Basics

extension HTTPClient {
  /// Sends a request of the protocol itself, through any client, with typed errors.
  ///
  /// An interruption ends the request with ``SQOAuthError/Code/cancelled``, as the cancellation of
  /// the task does.
  func exchange(
    _ request: HTTPRequest, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> HTTPResponse {
    // An app's own client does not know that there are bodies that can be sent once only.
    try request.checkNotSpent()
    let response: HTTPResponse
    do {
      response =
        if let interruption {
          try await send(request, whenStarted: interruption.whenRaised)
        } else {
          try await send(request)
        }
    } catch let error as SQOAuthError {
      throw error
    } catch is CancellationError {
      throw SQOAuthError(.cancelled, "the request was cancelled")
    } catch {
      throw SQOAuthError(.connectionFailed, "the HTTP client failed", cause: error)
    }
    // Checked again, since an app's own client may not know the limit or may invent a status.
    guard (200...599).contains(response.status) else {
      throw SQOAuthError(.invalidResponse, "the HTTP client returned no valid status")
    }
    guard response.body.count <= max(request.maximumResponseBytes, 0) else {
      throw SQOAuthError(.responseTooLarge, "the response is larger than the request allows")
    }
    return response
  }
}
