import CSQCurl
import SQBasics
import SQFoundation

/// One request while it is sent and answered: its state for libcurl's callbacks, and its result.
///
/// It needs no lock, because it has one owner at a time. The caller prepares it. After
/// ``CurlEventLoop/start(_:)``, it belongs to the event loop, and every callback runs under the
/// loop's lock. After its continuation is resumed, it belongs to the caller again. While the
/// transfer runs, both use the queues of a streamed body and the number of attempts, which have
/// their own locks.
final class CurlTransfer: @unchecked Sendable, Redacted {
  let request: WebRequest
  let target: RequestTarget
  let handle: CurlHandle
  /// The queue for a body from a file or a stream; `nil` for a body in memory.
  let upload: UploadQueue?
  /// The queue for a response to a file or a closure; `nil` for a response in memory.
  let download: DownloadQueue?
  /// The result of a transfer that only opens a connection; `nil` for a request.
  let opening: ConnectionOpening?

  /// The states of a transfer.
  enum Phase {
    case prepared
    /// The transfer is in the event loop's list, at this index.
    case running(index: Int)
    case ended
  }

  /// The caller's continuation, which ``finish()`` resumes once.
  var continuation: CheckedContinuation<Void, Never>?
  var phase = Phase.prepared
  var clock: TransferClock
  var reader = ResponseReader()
  var progress: ProgressMeter?
  /// The reason why the transfer failed: an error of the SDK, or the error for libcurl's code.
  var failure: SQOAuthError?
  /// The content of a response in memory.
  private var body = Data()
  private var received: Int64 = 0
  /// The socket that libcurl uses for the transfer; negative before libcurl has named it.
  var socket: Int32 = -1
  /// The bytes of content and of heads that are not yet counted in the connection's ``WireMeter``.
  var uncounted: Int64 = 0
  /// The number of bytes sent from a body in memory.
  var sentOfBytes = 0
  /// How often libcurl sent the request or tried to send it; the caller reads the value too.
  let attempts = Locked(0)
  private var hasFallenSilent = false
  private var isFlooded = false
  /// Whether the response is complete, although the server may not have read the whole request.
  private(set) var isAnswered = false

  init(
    _ request: WebRequest, _ target: RequestTarget, _ handle: CurlHandle,
    upload: UploadQueue? = nil, download: DownloadQueue? = nil,
    opening: ConnectionOpening? = nil, lead: TimeLead? = nil
  ) {
    self.request = request
    self.target = target
    self.handle = handle
    self.upload = upload
    self.download = download
    self.opening = opening
    clock = TransferClock(
      total: request.timeout, idle: request.idleTimeout, connection: request.limits.connection,
      lead: lead)
    if download == nil { body.reserveCapacity(handle.usualLength) }
    if let report = request.progress { progress = ProgressMeter(report, request.body, upload) }
  }

  /// Whether other transfers may use the connection at the same time, over HTTP/2.
  ///
  /// Over HTTP/1.1 they never do, so the value is `true` for every request that can only use
  /// HTTP/1.1. Otherwise it is `false` in three cases:
  ///
  /// - The response is streamed, so it pauses when the app is not ready. On a shared connection,
  ///   other transfers would read bytes for it in the meantime, and libcurl would store them until
  ///   memory runs out.
  /// - The request must not be sent twice. A server may close a connection after any number of
  ///   requests without reading the requests in flight, and libcurl does not report which requests
  ///   these are. On an unshared connection, no other request is in flight.
  /// - The transfer only opens a connection.
  var sharesConnection: Bool {
    if opening != nil { return false }
    guard handle.maySpeakHTTP2(to: target) else { return true }
    return download == nil && request.isIdempotent
  }

  /// Whether libcurl has sent the request again, or tried to.
  var wasRepeated: Bool { attempts.withLock { $0 > 1 } }

  /// Whether a task makes the body or consumes the response during the transfer, or a closure gets
  /// its progress.
  var isWatched: Bool { progress != nil || upload != nil || download != nil }

  /// Returns the response of an ended transfer; throws the transfer's failure.
  func response() throws(SQOAuthError) -> WebResponse {
    if let failure { throw failure }
    guard let head = reader.head(), let trailers = reader.trailers() else { throw malformedHead }
    handle.usualLength = min(body.count, CurlHandle.largestUsualLength)
    return WebResponse(
      status: head.status, headers: head.headers, body: body, trailers: trailers)
  }

  var malformedHead: SQOAuthError {
    SQOAuthError(
      .invalidResponse,
      "\(target.authority) sent a response whose head or trailers are incomplete or malformed")
  }

  /// Closes the queues and resumes the caller.
  func finish() {
    upload?.close()
    download?.close()
    handOver()
    continuation.take()?.resume()
  }

  /// Passes the transfer from the event loop to the caller; both call this method.
  ///
  /// The continuation alone would be enough. But if it is resumed before the caller waits for it,
  /// Swift's runtime does not report the order to ThreadSanitizer, and an app would get a false
  /// report.
  func handOver() {
    attempts.withLock { _ in }
  }

  /// Records the error that ends the transfer; the caller must then make libcurl end it.
  ///
  /// libcurl 7.88 stops an HTTP/2 response only when it next sends something on the connection;
  /// until then, the server continues. So the connection is closed if no other transfer uses it.
  /// Other transfers soon send something.
  func giveUp(_ error: SQOAuthError) {
    if failure == nil { failure = error }
    handle.set(CURLOPT_FORBID_REUSE, 1)
  }

  /// Whether the transfer failed because the connection broke or the server stopped sending.
  var hasLostServer: Bool { failure?.code == .connectionFailed || hasFallenSilent }

  /// Returns the error for a transfer that ends at its deadline.
  func timeUp(_ now: UInt64) -> SQOAuthError {
    let message: String
    switch clock.limit(passedAt: now) {
    case .total:
      message =
        "\(target.authority) did not complete its answer within the \((request.timeout ?? .zero).text) "
        + "that the request allows"
    case .connection:
      message =
        "no connection to \(target.authority) was ready within "
        + "\((request.limits.connection ?? .zero).text); the request was not sent"
    case .idle:
      hasFallenSilent = true
      message =
        "\(target.authority) was silent for the \((request.idleTimeout ?? .zero).text) that the request "
        + "allows"
    }
    return SQOAuthError(.requestTimedOut, message)
  }

  // MARK: What libcurl calls for the response

  /// Receives decoded content.
  ///
  /// - Returns: The number of bytes if all were stored. `CURL_WRITEFUNC_PAUSE` pauses the transfer
  ///   until there is space; any other number ends it.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    clock.touch()
    guard received + Int64(bytes.count) <= request.maximumResponseBytes else {
      giveUp(
        SQOAuthError(
          .responseTooLarge,
          "\(target.authority) sent more than the \(request.maximumResponseBytes) bytes that the "
            + "request allows", status: reader.head()?.status))
      return 0
    }
    if let download {
      guard download.append(bytes) else {
        clock.isWaitingForReader = true
        return sq_write_pause
      }
    } else {
      body.append(contentsOf: bytes)
    }
    received += Int64(bytes.count)
    uncounted += Int64(bytes.count)
    progress?.received(received, of: handle)
    return bytes.count
  }

  /// Returns the socket that the transfer uses, or `nil` if it has no connection yet.
  func usedSocket() -> Int32? {
    // For a stream on a shared connection, libcurl may not name the socket.
    if socket < 0 { socket = sq_get_active_socket(handle.easy) }
    return socket < 0 ? nil : socket
  }

  /// The number of bytes that the connection may receive in addition to those that the content
  /// needs.
  var wireAllowance: Int64 {
    let isHTTP2 = reader.isHeadComplete ? reader.isHTTP2 : handle.maySpeakHTTP2(to: target)
    return isHTTP2 ? ContentMeter.allowance + WireMeter.window : ContentMeter.allowance
  }

  /// The number of bytes that may still arrive for a failed transfer, up to a stream's window.
  ///
  /// The value is `nil` if the transfer did not fail, or if it failed because the server sent too
  /// many bytes that are not content.
  /// Over HTTP/2 the server sends on until it learns that the request was abandoned, and another
  /// transfer may use the connection meanwhile.
  var rest: Int64? {
    guard failure != nil, !isFlooded else { return nil }
    guard let length = ProgressMeter.announcedLength(handle) else { return WireMeter.window }
    return min(max(0, length - received), WireMeter.window)
  }

  /// Ends the transfer, because it received far more bytes than its content needs.
  func giveUpFlooded() {
    isFlooded = true
    giveUp(
      SQOAuthError(
        .responseTooLarge,
        "\(target.authority) sent far more bytes than the content of its response needs: more than "
          + "\(wireAllowance) bytes plus \(ContentMeter.bytesEach) for each byte of content",
        status: reader.head()?.status))
  }

  /// Receives a line of a head or a trailer; the result 0 ends the transfer.
  func receiveLine(_ line: UnsafeRawBufferPointer) -> Int {
    clock.touch()
    uncounted += Int64(line.count)
    let wasComplete = reader.isHeadComplete
    guard reader.take(line) else {
      giveUp(
        SQOAuthError(
          .responseTooLarge,
          "the head and the trailers of the response of \(target.authority) have more than "
            + "\(ResponseReader.maximumLines) lines or \(ResponseReader.maximumBytes) bytes"))
      return 0
    }
    if reader.isOver { endUpload() }
    return reader.isHeadComplete && !wasComplete && !takeHead() ? 0 : line.count
  }

  /// Marks the response as complete, and ends the request's body if libcurl still waits for it.
  ///
  /// - SeeAlso: RFC 9113, section 8.1
  private func endUpload() {
    guard !isAnswered else { return }
    isAnswered = true
    guard let upload, case .success(let loop) = CurlEventLoop.shared else { return }
    upload.endAnswered()
    loop.resume(self)
  }

  private func takeHead() -> Bool {
    guard let download else { return true }
    guard let head = reader.head() else {
      giveUp(malformedHead)
      return false
    }
    download.begin(head)
    return true
  }
}
