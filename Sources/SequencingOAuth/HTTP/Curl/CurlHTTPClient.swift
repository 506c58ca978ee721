import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The HTTP client that stands on libcurl.
///
/// It speaks HTTP/1.1 and HTTP/2, keeps connections open between requests, and shares them only
/// between clients whose configurations ask for the same TLS and the same proxy. It follows no
/// redirect, keeps no cookie and no cache, reads no `.netrc`, and answers no challenge.
///
/// A request that is not idempotent (POST, PATCH) goes out once at most. Another one is repeated,
/// by libcurl, when the kept connection that it was sent on turns out to be closed.
///
/// - Note: Where a request's body or its response is streamed, the app's closures run on tasks that
///   end before ``send(_:)`` returns; when the request fails they are cancelled.
public final class CurlHTTPClient: HTTPClient {
  /// The client that the SDK uses where it is given no other.
  public static let shared = CurlHTTPClient()

  /// How it connects.
  public let configuration: HTTPClientConfiguration
  private let pool = CurlHandlePool()
  /// The one that was read last: many apps have one endpoint that they call again and again.
  private let lastTarget = Locked<RequestTarget?>(nil)

  /// Makes a client, which costs nothing until the first request.
  public init(configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
    self.configuration = configuration
  }

  /// Sends a request and returns when its response is complete.
  ///
  /// - Throws: ``SQOAuthError`` with one of the codes `malformedRequest`, `invalidConfiguration`,
  ///   `connectionFailed`, `tlsFailed`, `requestTimedOut`, `cancelled`, `responseTooLarge`,
  ///   `invalidResponse`; or, unchanged, the one that a closure of the request threw.
  public func send(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPResponse {
    try await request.reportingProgress(by: Callbacks()) { request throws(SQOAuthError) in
      try await transfer(request) { _, _ in }
    }
  }

  /// Sends a request that can also be ended while its task goes on; it gets no task of its own.
  ///
  /// Throws what ``send(_:)`` throws.
  public func send(
    _ request: HTTPRequest, whenStarted: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async throws(SQOAuthError) -> HTTPResponse {
    try await request.reportingProgress(by: Callbacks()) { request throws(SQOAuthError) in
      try await transfer(request) { transfer, loop in
        whenStarted { loop.end(transfer, Self.cancelled(transfer.target)) }
      }
    }
  }

  /// Whether the libcurl that is loaded is older than 8.14.
  public var mayLoseEndOfResponse: Bool { !LibcurlVersion.hasNewHTTP2 }

  /// Sends a request; `willStart` gets the transfer before it starts.
  private func transfer(
    _ request: HTTPRequest, willStart: (CurlTransfer, CurlEventLoop) -> Void
  ) async throws(SQOAuthError) -> HTTPResponse {
    try request.validate()
    let target = try target(request.url)
    // A transfer that is sent at once does not wait for the cancellation to reach the event loop.
    guard !Task.isCancelled else { throw Self.cancelled(target) }
    let loop = try CurlEventLoop.shared.get()
    let handle = try handle(request, target, loop)
    let transfer = CurlTransfer(
      request, target, handle, upload: try UploadQueue.make(request.body),
      download: DownloadQueue.make(request.destination))
    // libcurl counts how often it repeats what a handle sends, over all the handle's requests, and
    // does not do it a sixth time.
    defer { if !transfer.wasRepeated { pool.give(handle) } }
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

  /// A handle with room for the response; one that was ended while it waited for a connection may
  /// have kept its buffer, and is let go.
  private func handle(
    _ request: HTTPRequest, _ target: RequestTarget, _ loop: CurlEventLoop
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

  /// Returns when the transfer has ended, one way or another.
  private func run(_ transfer: CurlTransfer, _ loop: CurlEventLoop) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.continuation = continuation
        loop.start(transfer)
      }
    } onCancel: {
      loop.end(transfer, Self.cancelled(transfer.target))
    }
  }

  private static func cancelled(_ target: RequestTarget) -> SQOAuthError {
    SQOAuthError(.cancelled, "the request to \(target.authority) was cancelled")
  }
}
