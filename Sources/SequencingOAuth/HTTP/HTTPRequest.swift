public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An HTTP request: its method, URL, fields and body, where the response goes, and its limits.
public struct HTTPRequest: Sendable {
  /// The method in upper case, such as `GET` (RFC 9110, section 9.1).
  public var method: String
  /// The absolute http or https URL to which the request goes.
  public var url: URL
  /// The header fields; the client adds `Host`, `Content-Length` and `Accept-Encoding`.
  public var headers: HTTPFields
  /// The content that the request sends.
  public var body: HTTPRequestBody {
    didSet { oneTimeStreams = [] }
  }
  /// The parts of the body that can be read only once; see ``setForm(_:)``.
  package var oneTimeStreams: [OneTimeStream] = []
  /// Where the response's content goes.
  public var destination: HTTPDestination = .memory
  /// The largest number of bytes that the response's content may have, after decompression.
  ///
  /// A larger response ends the request with ``SQOAuthError/Code/responseTooLarge``. The default is
  /// 1 MiB.
  public var maximumResponseBytes: Int64 = 1 << 20
  /// The stored values of ``timeout`` and ``idleTimeout``.
  var limits = HTTPRequestLimits()
  /// The closure to which an ``HTTPClient`` reports the progress of the transfer.
  ///
  /// The client calls it on its own thread, so it must return at once. An app that shows progress
  /// uses ``onProgress(_:)`` instead.
  public var progress: (@Sendable (HTTPProgress) -> Void)?
  /// The app's closure for the progress.
  var progressClosure: Completion<HTTPProgress>?

  /// Makes a request with the default limits: 60 s, and a response of at most 1 MiB.
  public init(
    method: String = "GET", url: URL, headers: HTTPFields = [:], body: HTTPRequestBody = .empty
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// Makes a request to a URL that is given as text, with the default limits.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` if the text is not an http or https URL.
  public init(
    method: String = "GET", url: String, headers: HTTPFields = [:], body: HTTPRequestBody = .empty
  ) throws(SQOAuthError) {
    let target = try RequestTarget(text: url)
    guard let url = URL(string: target.text) else {
      throw SQOAuthError(.malformedRequest, "the request's URL cannot be read; nothing was sent")
    }
    self.init(method: method, url: url, headers: headers, body: body)
  }
}

extension HTTPRequest {
  /// Sets a closure that gets the progress of the transfer, for example to show it on a screen.
  ///
  /// A closure that belongs to an actor, such as one in a `@MainActor` screen, runs on that actor.
  /// Any other closure runs on the callback queue of the object that sends the request:
  /// ``SQOAuth/callbackQueue``, ``AuthorizationModule/callbackQueue``, or the main queue for
  /// ``CurlHTTPClient/send(_:)``. The calls come one after the other, and none comes after `send`
  /// has ended. The transfer does not wait for the closure: while it is busy, a newer value
  /// replaces an older one. The last value is delivered before `send` returns a response.
  ///
  /// If the SDK sends the request again after a 401, the counts start again from zero.
  public mutating func onProgress(_ closure: @escaping @isolated(any) (HTTPProgress) -> Void) {
    progressClosure = Completion(closure)
  }

  /// Sends this request and passes its progress to the app's closure, if there is one.
  ///
  /// `callbacks` call the closure on its actor or on a queue.
  func reportingProgress<Value, Failure>(
    by callbacks: @autoclosure () -> Callbacks,
    _ send: (HTTPRequest) async throws(Failure) -> Value
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
public enum HTTPRequestBody: Sendable {
  /// No content.
  case empty
  /// Bytes in memory.
  case bytes(Data)
  /// A file that is read while it is sent; its length is read when the request starts.
  case file(URL)
  /// A stream of chunks, which the client asks for one at a time; `nil` ends the body.
  ///
  /// `length` is in bytes, or `nil` if it is not known; then the body goes out in HTTP/1.1 chunks
  /// or HTTP/2 frames. The client calls the outer closure once for each time that it sends the
  /// body.
  case stream(
    length: Int64?, makeChunks: @Sendable () -> @Sendable () async throws -> Data?)
}

/// The place to which a response's content goes: memory, a file or a closure.
public enum HTTPDestination: Sendable {
  /// Into ``HTTPResponse/body``.
  case memory
  /// Into a file, which is created with mode 0600, or emptied, when a response of status 2xx
  /// begins.
  ///
  /// The content of a response with any other status goes into ``HTTPResponse/body``. If the
  /// transfer fails, the file has a part of the content. A link, a folder or a pipe in the file's
  /// place is refused. ``Pipeline/Pipe/download(id:parameters:to:replacing:progress:)`` replaces a
  /// file only when all bytes are there.
  case file(URL)
  /// To a closure, piece by piece and in order; the client reads a bounded amount ahead of it.
  ///
  /// The first call has the head and no bytes. ``HTTPResponse/body`` stays empty for every status.
  case stream(@Sendable (HTTPResponseHead, Data) async throws -> Void)
}

/// The progress of a transfer, in bytes of content.
public struct HTTPProgress: Sendable, Hashable {
  /// The number of bytes that were sent so far.
  public var sent: Int64
  /// The number of bytes that the request sends in all; `nil` if it is not known.
  public var totalToSend: Int64?
  /// The number of bytes that were received so far, after decompression.
  public var received: Int64
  /// The number of bytes that the response has in all.
  ///
  /// It is `nil` if the server did not announce a length or compresses the response.
  public var totalToReceive: Int64?

  /// Makes a value from the numbers of bytes in both directions.
  public init(
    sent: Int64 = 0, totalToSend: Int64? = nil, received: Int64 = 0, totalToReceive: Int64? = nil
  ) {
    self.sent = sent
    self.totalToSend = totalToSend
    self.received = received
    self.totalToReceive = totalToReceive
  }
}

extension HTTPRequest: Redacted {
  /// The method and the URL without its query, which may hold secrets.
  public var description: String {
    "\(method) \(url.withoutQuery)"
  }
}

extension URL {
  /// The URL's text without query and fragment, which may hold secrets.
  package var withoutQuery: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
}

extension HTTPRequestBody: Redacted {
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
