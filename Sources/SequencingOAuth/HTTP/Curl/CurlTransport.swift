import SQBasics
import SQFoundation

/// The default HTTP client on Linux, which uses libcurl.
///
/// It speaks HTTP/1.1 and HTTP/2 and keeps connections open between requests. Clients share
/// connections only if their configurations have the same TLS settings and the same proxy. The
/// client follows no redirects, keeps no cookies and no cache, reads no `.netrc`, and answers no
/// challenges.
///
/// A request that is not idempotent (POST, PATCH) is sent at most once. libcurl may send any other
/// request again if it was sent on an open connection that turns out to be closed.
///
/// - Note: If a request's body or its response is a stream, the app's closures run in tasks that
///   end before ``send(_:)`` returns. If the request fails, these tasks are cancelled.
public final class CurlTransport: HTTPTransport, TimeLimitingTransport {
  /// The client that the SDK uses by default.
  public static let shared = CurlTransport()

  /// The configuration of the client's connections.
  public let configuration: HTTPTransportConfiguration
  /// How far the clock of the client's requests is ahead; `nil` except in tests.
  let lead: TimeLead?
  private let pool = CurlHandlePool()
  /// The target of the last request, kept because many apps call one endpoint repeatedly.
  private let lastTarget = Locked<RequestTarget?>(nil)

  /// Creates a client; it opens no connection before its first request.
  public init(configuration: HTTPTransportConfiguration = HTTPTransportConfiguration()) {
    self.configuration = configuration
    lead = nil
  }

  /// Creates a client whose clock a test can move ahead.
  package init(
    configuration: HTTPTransportConfiguration = HTTPTransportConfiguration(), lead: TimeLead
  ) {
    self.configuration = configuration
    self.lead = lead
  }

  /// Sends a request and returns the complete response.
  ///
  /// - Throws: ``SQOAuthError`` with one of the codes `malformedRequest`, `invalidConfiguration`,
  ///   `connectionFailed`, `tlsFailed`, `requestTimedOut`, `cancelled`, `responseTooLarge`,
  ///   `invalidResponse`, `bodyNotReplayable`. If a closure of the request throws an
  ///   ``SQOAuthError``, this method throws the same error.
  public func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    try await request.reportingProgress(by: Callbacks()) { request throws(SQOAuthError) in
      try await transfer(request) { _, _ in }
    }
  }

  /// Sends a request that the caller can end without cancelling the task that waits for it.
  ///
  /// It throws the same errors as ``send(_:)``. The closure that `whenStarted` receives ends the
  /// request with ``SQOAuthError/Code/cancelled``, and may be called on any thread.
  public func send(
    _ request: WebRequest, whenStarted: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async throws(SQOAuthError) -> WebResponse {
    try await request.reportingProgress(by: Callbacks()) { request throws(SQOAuthError) in
      try await transfer(request) { transfer, loop in
        whenStarted { loop.end(transfer, Self.cancelled(transfer.target)) }
      }
    }
  }

  /// Sends a request; `willStart` receives the transfer before it starts.
  private func transfer(
    _ request: WebRequest, willStart: (CurlTransfer, CurlEventLoop) -> Void
  ) async throws(SQOAuthError) -> WebResponse {
    try request.validate()
    let target = try target(request.url)
    // A transfer may be sent immediately, before a cancellation reaches the event loop.
    guard !Task.isCancelled else { throw Self.cancelled(target) }
    let loop = try CurlEventLoop.shared.get()
    let upload = try await UploadQueue.make(request.body)
    let handle = try handle(request, target, loop)
    let transfer = CurlTransfer(
      request, target, handle, upload: upload,
      download: DownloadQueue.make(request.destination), lead: lead)
    // libcurl repeats at most five requests in the life of a handle. So a handle with a repeated
    // request is not used again. A later handle may be able to read the file of authorities.
    defer {
      if !transfer.wasRepeated, handle.unreadAuthorities == nil { pool.give(handle) }
    }
    try handle.prepare(transfer, configuration)
    willStart(transfer, loop)
    if transfer.upload == nil, transfer.download == nil {
      await run(transfer, loop)
      return try transfer.response()
    }
    return try await StreamedExchange(transfer: transfer, loop: loop).run {
      await run(transfer, loop)
    }
  }

  private func target(_ url: URL) throws(SQOAuthError) -> RequestTarget {
    let text = url.absoluteString
    if let target = lastTarget.withLock({ $0 }), target.text == text { return target }
    let target = try RequestTarget(text: text)
    lastTarget.withLock { $0 = target }
    return target
  }

  /// Returns a handle with a buffer that is large enough for the response.
  ///
  /// A kept handle's buffer may be too small and unable to grow, if the handle's last request ended
  /// while it waited for a connection. Such a handle is dropped.
  private func handle(
    _ request: WebRequest, _ target: RequestTarget, _ loop: CurlEventLoop
  ) throws(SQOAuthError) -> CurlHandle {
    while let handle = pool.take() {
      if handle.setBuffer(for: request, to: target) { return handle }
    }
    let handle = try CurlHandle(configuration, loop)
    guard handle.setBuffer(for: request, to: target) else {
      throw SQOAuthError(.connectionFailed, "libcurl has no buffer for another response")
    }
    return handle
  }

  /// Starts the transfer and returns when it has ended, by success or by failure.
  func run(_ transfer: CurlTransfer, _ loop: CurlEventLoop) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.continuation = continuation
        loop.start(transfer)
      }
    } onCancel: {
      loop.end(transfer, Self.cancelled(transfer.target))
    }
    transfer.handOver()
  }

  private static func cancelled(_ target: RequestTarget) -> SQOAuthError {
    SQOAuthError(.cancelled, "the request to \(target.authority) was cancelled")
  }
}
