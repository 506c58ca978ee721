public import SQBasics
public import SQFoundation

/// An HTTP request: its method, URL, fields and body, its limits, and the response's destination.
public struct WebRequest: Sendable {
  /// The method in upper case, such as `GET` (RFC 9110, section 9.1).
  public var method: String
  /// The absolute http or https URL of the request.
  public var url: URL
  /// The header fields; the client adds `Host`, `Content-Length` and `Accept-Encoding`.
  public var headers: HeaderFields
  /// The content to send.
  public var body: WebRequestBody {
    didSet { oneTimeStreams = [] }
  }
  /// The parts of the body that can be read only once; see `setForm(_:)`.
  package var oneTimeStreams: [OneTimeStream] = []
  /// The place for the response's content: memory, a file or a closure.
  public var destination: HTTPDestination = .memory
  /// The maximum size of the response's content, in bytes after decompression.
  ///
  /// A larger response ends the request with ``SQOAuthError/Code/responseTooLarge``. The default is
  /// 1 MiB.
  public var maximumResponseBytes: Int64 = 1 << 20
  /// Whether ``CurlTransport`` sends the request on a new connection, and therefore only once.
  ///
  /// On a reused connection, libcurl may send an idempotent request twice. If the server closes the
  /// connection without an answer, it may nevertheless have acted on the first copy.
  var needsNewConnection = false
  /// The time limits, which ``timeout`` and ``idleTimeout`` read and set.
  var limits = WebRequestLimits()
  /// The closure that receives the progress of the transfer from an ``HTTPTransport``.
  ///
  /// The client calls it on its own thread, so it must return immediately. To show progress in an
  /// app, use ``onProgress(_:)`` instead.
  public var progress: (@Sendable (HTTPProgress) -> Void)?
  /// The closure that ``onProgress(_:)`` has set.
  var progressClosure: Completion<HTTPProgress>?

  /// Creates a request with the default limits: 60 s, and a response of at most 1 MiB.
  public init(
    method: String = "GET", url: URL, headers: HeaderFields = [:], body: WebRequestBody = .empty
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// Creates a request from a URL as text, with the default limits.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` if the text is not an http or https URL.
  public init(
    method: String = "GET", url: String, headers: HeaderFields = [:], body: WebRequestBody = .empty
  ) throws(SQOAuthError) {
    let target = try RequestTarget(text: url)
    guard let url = URL(string: target.text) else {
      throw SQOAuthError(.malformedRequest, "the request's URL cannot be read; nothing was sent")
    }
    self.init(method: method, url: url, headers: headers, body: body)
  }
}

extension WebRequest {
  /// Sets a closure that receives the progress of the transfer, for example to show it on a screen.
  ///
  /// A closure that is isolated to an actor, such as one in a `@MainActor` view, runs on that
  /// actor. Any other closure runs on the callback queue of the object that sends the request:
  /// an account's ``AccountOperations/callbackQueue``, or the main queue for
  /// ``CurlTransport/send(_:)``. Calls do not overlap, and no call follows the end of `send`. The
  /// transfer does not wait for the closure: while the closure is busy, a newer value replaces an
  /// older one. The closure gets the last value before `send` returns a response.
  ///
  /// If the SDK sends the request again after a 401, the counts start again at zero.
  public mutating func onProgress(_ closure: @escaping @isolated(any) (HTTPProgress) -> Void) {
    progressClosure = Completion(closure)
  }

  /// Sends this request and reports its progress to the app's closure, if there is one.
  ///
  /// `callbacks` calls the closure on its actor or on a queue.
  func reportingProgress<Value, Failure>(
    by callbacks: @autoclosure () -> Callbacks,
    _ send: (WebRequest) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    guard let progressClosure else { return try await send(self) }
    let relay = ProgressRelay(progressClosure, callbacks())
    var request = self
    request.progressClosure = nil
    request.progress = { [progress] statement in
      progress?(statement)
      relay.report(statement)
    }
    return try await relay.run { () async throws(Failure) in try await send(request) }
  }
}

/// The content of a request: nothing, bytes in memory, a file or a stream.
public enum WebRequestBody: Sendable {
  /// No content.
  case empty
  /// Bytes in memory.
  case bytes(Data)
  /// A file; it is read while it is sent, but its length is taken when the request starts.
  case file(URL)
  /// A stream of chunks; the client requests one chunk at a time, and `nil` ends the body.
  ///
  /// `length` is in bytes. If it is `nil`, the body is sent in HTTP/1.1 chunks or HTTP/2 frames.
  /// The client calls the outer closure once each time it sends the body.
  case stream(
    length: Int64?, makeChunks: @Sendable () -> @Sendable () async throws -> Data?)
}

/// A place for a response's content: memory, a file or a closure.
public enum HTTPDestination: Sendable {
  /// The content goes into ``WebResponse/body``.
  case memory
  /// The content of a 2xx response goes into a file.
  ///
  /// The file is created with mode 0600, or emptied if it exists. The content of a response with
  /// any other status goes into ``WebResponse/body``. ``CurlTransport`` returns the response when the
  /// file is safely on the disk. If the transfer or a write fails, the file contains only part of the
  /// content. The path must not be a link, a folder or a pipe.
  /// `Pipeline.Pipe.download(id:parameters:to:replacing:progress:)` replaces a file only when the
  /// download is complete.
  case file(URL)
  /// The content goes to a closure, in order and in pieces; the client buffers a limited amount.
  ///
  /// The first call has the head and no bytes. ``WebResponse/body`` stays empty, for any status.
  case stream(@Sendable (WebResponseHead, Data) async throws -> Void)
}

/// The progress of a transfer, in bytes of content.
public struct HTTPProgress: Sendable, Hashable {
  /// The number of bytes sent so far.
  public var sent: Int64
  /// The total number of bytes to send; `nil` if unknown.
  public var totalToSend: Int64?
  /// The number of bytes received so far, after decompression.
  public var received: Int64
  /// The total number of bytes in the response; `nil` if unknown.
  ///
  /// It is unknown if the server does not announce a length or compresses the response.
  public var totalToReceive: Int64?

  /// Creates a value from the numbers of bytes in both directions.
  public init(
    sent: Int64 = 0, totalToSend: Int64? = nil, received: Int64 = 0, totalToReceive: Int64? = nil
  ) {
    self.sent = sent
    self.totalToSend = totalToSend
    self.received = received
    self.totalToReceive = totalToReceive
  }
}

extension WebRequest: Redacted {
  /// The method and the URL without its query, because a query may contain secrets.
  public var description: String {
    "\(method) \(url.withoutQuery)"
  }
}

extension URL {
  /// The URL's text without query and fragment, because they may contain secrets.
  package var withoutQuery: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
}

extension String {
  /// The text of a URL without query and fragment, because they may contain secrets.
  package var withoutQuery: String {
    String(
      decoding: utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
  }
}

extension WebRequestBody: Redacted {
  /// The kind of body, without its content.
  public var description: String {
    switch self {
    case .empty: "empty"
    case .bytes(let data): "\(data.count) bytes"
    case .file: "file"
    case .stream: "stream"
    }
  }
}
