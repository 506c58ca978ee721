package import SQBasics

/// A client that enforces each request's time limit itself.
protocol TimeLimitingTransport: HTTPTransport {}

extension HTTPTransport {
  /// Sends a request through any client, checks the response's status and size, and throws only
  /// typed errors.
  ///
  /// If `interruption` is raised or the task is cancelled, the request ends with
  /// ``SQOAuthError/Code/cancelled``.
  package func exchange(
    _ request: WebRequest, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> WebResponse {
    // An app's own client does not know that some bodies can be read only once.
    try request.checkNotConsumed()
    var response: WebResponse
    do {
      response = try await answer(to: request, interruption)
    } catch let error as SQOAuthError {
      throw error
    } catch is CancellationError {
      throw SQOAuthError(.cancelled, "the request was cancelled")
    } catch {
      throw SQOAuthError(
        .connectionFailed, "the HTTP client failed with \(type(of: error))", cause: error)
    }
    // The status and the size are checked here too, because an app's own client might return an
    // invalid status or ignore the size limit.
    guard (200...599).contains(response.status) else {
      throw SQOAuthError(
        .invalidResponse, "the HTTP client returned a status that is not from 200 to 599")
    }
    guard response.body.count <= max(request.maximumResponseBytes, 0) else {
      throw SQOAuthError(.responseTooLarge, "the response is larger than the request allows")
    }
    response.head.headers = response.headers.streamSafe
    response.trailers = response.trailers.streamSafe
    return response
  }

  /// Sends a request, and ends it at its time limit if the client does not do so itself.
  private func answer(
    to request: WebRequest, _ interruption: Interruption?
  ) async throws -> WebResponse {
    guard !(self is any TimeLimitingTransport), let limit = request.timeout else {
      guard let interruption else { return try await send(request) }
      return try await send(request, whenStarted: interruption.whenRaised)
    }
    let ending = Interruption()
    interruption?.whenRaised(ending.raise)
    let isLate = OneShot<Void>()
    let timer = Task {
      try await Task.sleep(for: limit.bounded)
      isLate.resolve(())
      ending.raise()
    }
    defer { timer.cancel() }
    do {
      return try await send(request, whenStarted: ending.whenRaised)
    } catch {
      guard isLate.current != nil, !Task.isCancelled else { throw error }
      throw SQOAuthError(
        .requestTimedOut,
        "the HTTP client had no answer within the \(limit.text) that the request allows")
    }
  }
}
