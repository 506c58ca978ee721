import Basics

extension HTTPClient {
  /// Sends a request of the protocol itself, through any client, with typed errors.
  ///
  /// Only the SDK's own client can be interrupted.
  func exchange(
    _ request: HTTPRequest, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> HTTPResponse {
    // An app's own client does not know that there are bodies that can be sent once only.
    try request.checkNotSpent()
    let response: HTTPResponse
    do {
      if let interruption, let client = self as? CurlHTTPClient {
        response = try await client.send(request, interruption)
      } else {
        response = try await send(request)
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
