import Basics
import CCurl

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One request on its way: what libcurl's callbacks fill, and what became of it.
///
/// It passes from hand to hand and never needs a lock of its own: the caller prepares it; from
/// ``CurlEventLoop/start(_:)`` on it belongs to the event loop, whose lock every callback runs
/// under; when the continuation is resumed it is the caller's again. What both touch meanwhile,
/// the two queues of a streamed body, has its own lock.
final class CurlTransfer: @unchecked Sendable, Redacted {
  let request: HTTPRequest
  let target: RequestTarget
  let handle: CurlHandle
  /// What the app's chunks or a file's go through; `nil` for a body in memory.
  let upload: UploadQueue?
  /// Where content goes that does not stay in memory.
  let download: DownloadQueue?

  /// Where it is in its life.
  enum Phase {
    case prepared
    /// In the event loop's list, at this place.
    case running(index: Int)
    case ended
  }

  /// Resumed once, by ``finish()``.
  var continuation: CheckedContinuation<Void, Never>?
  var phase = Phase.prepared
  var clock: TransferClock
  var reader = ResponseReader()
  var progress: ProgressMeter?
  /// Why the transfer was ended from this side, or what libcurl's code means.
  var failure: SQOAuthError?
  /// The content, where it stays in memory.
  private var body = Data()
  private var received: Int64 = 0
  /// What has come over the wire for it.
  var wire = WireMeter()
  var sentOfBytes = 0
  /// How often it was sent, or would have been; read by the caller too.
  let attempts = Locked(0)
  /// Whether it is to use a connection that is there.
  var joins = false
  /// Whether there was none.
  var foundNone = false
  private var hasFallenSilent = false
  /// Whether the server has answered, though it may not have read the whole request.
  private(set) var isAnswered = false

  init(
    _ request: HTTPRequest, _ target: RequestTarget, _ handle: CurlHandle,
    upload: UploadQueue? = nil, download: DownloadQueue? = nil
  ) {
    self.request = request
    self.target = target
    self.handle = handle
    self.upload = upload
    self.download = download
    clock = TransferClock(
      total: request.timeout, idle: request.idleTimeout, connection: request.limits.connection)
    if let report = request.progress { progress = ProgressMeter(report, request.body, upload) }
  }

  /// Which connections a transfer may use.
  enum Pool {
    /// Those of every kind that others may use, too.
    case common
    /// Those that speak HTTP/2 without TLS, which others may use, too.
    case presumed
    /// One for itself.
    case alone
  }

  /// One that halts when the app is not ready has an HTTP/2 connection for itself: libcurl would
  /// store what others read for it meanwhile, until memory is short.
  ///
  /// So has one that must not go out twice, but where HTTP/2 is presumed, as gRPC has it: a server
  /// may end a connection at any number of requests and leave those that are on their way unread,
  /// and libcurl does not tell which these are. On a connection that it has for itself, none of its
  /// own is on its way by then.
  ///
  /// And so has one without TLS over the newer HTTP/2 of libcurl, which misses the end of a kept
  /// connection and, now and then, of a response beside one that was cancelled (seen with 8.14.1).
  var pool: Pool {
    guard handle.maySpeakHTTP2(to: target) else { return .common }
    if download != nil { return .alone }
    guard handle.requiresHTTP2 else { return request.isIdempotent ? .common : .alone }
    guard !target.isSecure else { return .common }
    return LibcurlVersion.hasNewHTTP2 ? .alone : .presumed
  }

  /// Whether libcurl has sent the request again, or tried to.
  var wasRepeated: Bool { attempts.withLock { $0 > 1 } }

  /// Whether code of the app runs while the transfer does.
  var isWatched: Bool { progress != nil || upload != nil || download != nil }

  /// The response, once the transfer has ended.
  func response() throws(SQOAuthError) -> HTTPResponse {
    if let failure { throw failure }
    guard let head = reader.head(), let trailers = reader.trailers() else { throw malformedHead }
    return HTTPResponse(
      status: head.status, headers: head.headers, body: body, trailers: trailers)
  }

  var malformedHead: SQOAuthError {
    SQOAuthError(
      .invalidResponse, "\(target.authority) sent no complete, well-formed response head")
  }

  /// Gives the transfer back to its caller.
  func finish() {
    upload?.close()
    download?.close()
    continuation.take()?.resume()
  }

  /// Ends it from this side; it is still to be taken from libcurl.
  ///
  /// libcurl 7.88 tells the server that nobody wants the rest of an HTTP/2 response only with the
  /// next thing that it has to send on the connection, and a server would go on for as long. So the
  /// connection is closed, unless others use it, who have something to send.
  func giveUp(_ error: SQOAuthError) {
    if failure == nil { failure = error }
    handle.set(CURLOPT_FORBID_REUSE, 1)
  }

  /// Whether it failed because the connection broke or the server fell silent.
  var hasLostServer: Bool { failure?.code == .connectionFailed || hasFallenSilent }

  /// Why it is ended at its deadline.
  func timeUp(_ now: UInt64) -> SQOAuthError {
    let message: String
    switch clock.limit(passedAt: now) {
    case .total:
      message =
        "\(target.authority) did not complete its answer within the \(request.timeout ?? .zero) "
        + "that the request allows"
    case .connection:
      message =
        "no connection to \(target.authority) was ready within "
        + "\(request.limits.connection ?? .zero); the request was not sent"
    case .idle:
      hasFallenSilent = true
      message =
        "\(target.authority) fell silent for the \(request.idleTimeout ?? .zero) that the request "
        + "allows"
    }
    return SQOAuthError(.requestTimedOut, message)
  }

  // MARK: What libcurl calls for the response

  /// Takes decoded content.
  ///
  /// - Returns: How much was taken; anything but all ends the transfer or, as
  ///   `CURL_WRITEFUNC_PAUSE`, halts it until there is room.
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
        return Int(CURL_WRITEFUNC_PAUSE)
      }
    } else {
      body.append(contentsOf: bytes)
    }
    received += Int64(bytes.count)
    progress?.received(received, of: handle)
    return bytes.count
  }

  /// Looks at what has come over the wire; `false` ends the transfer.
  func mayGoOn() -> Bool {
    // Over HTTP/2 others may use the connection, and there are no chunks; the head tells.
    guard reader.isHeadComplete, !reader.isHTTP2, wire.isExceeded(received: received) else {
      return true
    }
    giveUp(
      SQOAuthError(
        .responseTooLarge,
        "\(target.authority) sent far more than the content of its response: over "
          + "\(WireMeter.allowance) bytes and \(WireMeter.bytesEach) for each byte of content",
        status: reader.head()?.status))
    return false
  }

  /// Takes a line of a head or a trailer; 0 ends the transfer.
  func receiveLine(_ line: UnsafeRawBufferPointer) -> Int {
    clock.touch()
    let wasComplete = reader.isHeadComplete
    guard reader.take(line) else {
      giveUp(
        SQOAuthError(
          .responseTooLarge,
          "\(target.authority) sent more than \(ResponseReader.maximumFields) header fields or "
            + "\(ResponseReader.maximumBytes) bytes of them"))
      return 0
    }
    if reader.isOver { endUpload() }
    return reader.isHeadComplete && !wasComplete && !takeHead() ? 0 : line.count
  }

  /// Takes note that the answer is whole, and has libcurl see the end of a body that it waits for.
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
    if handle.requiresHTTP2, !reader.isHTTP2 {
      giveUp(SQOAuthError(.invalidResponse, "\(target.authority) does not speak HTTP/2"))
      return false
    }
    guard let download else { return true }
    guard let head = reader.head() else {
      giveUp(malformedHead)
      return false
    }
    download.begin(head)
    return true
  }
}
