import Basics

extension HTTPClient {
  /// Sends a request through any client, checks the response's status and size, and throws typed
  /// errors only.
  ///
  /// The interruption and the cancellation of the task both end the request with
  /// ``SQOAuthError/Code/cancelled``.
  func exchange(
    _ request: HTTPRequest, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> HTTPResponse {
    // An app's own client does not know that some bodies can be sent only once.
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
