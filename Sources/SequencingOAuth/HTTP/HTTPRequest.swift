public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One request: what to send, where the answer goes, and how much of the server to bear.
public struct HTTPRequest: Sendable {
  /// The method, in upper case: an RFC 9110 token.
  public var method: String
  /// Where to; http or https, absolute.
  public var url: URL
  /// The header fields; the client adds `Host`, `Content-Length`, `Accept-Encoding`.
  public var headers: HTTPFields
  /// What is sent.
  public var body: HTTPRequestBody {
    didSet { oneTimeStreams = [] }
  }
  /// What in the body can be read once only; see ``setForm(_:)``.
  var oneTimeStreams: [OneTimeStream] = []
  /// Where the response's content goes.
  public var destination: HTTPDestination = .memory
  /// How many bytes of content are accepted, counted after decompression.
  ///
  /// One more ends the request with ``SQOAuthError/Code/responseTooLarge``.
  public var maximumResponseBytes: Int64 = 1 << 20
  /// What is in ``timeout`` and ``idleTimeout``.
  var limits = HTTPRequestLimits()
  /// Gets how far the transfer is, on the HTTP client's own thread: return at once.
  ///
  /// It is for an ``HTTPClient``, which calls it. An app that shows progress calls
  /// ``onProgress(_:)``.
  public var progress: (@Sendable (HTTPProgress) -> Void)?
  /// The app's closure for the progress.
  var progressClosure: Completion<HTTPProgress>?

  /// Makes a request with the limits of a small back-channel call.
  public init(
    method: String = "GET", url: URL, headers: HTTPFields = [:], body: HTTPRequestBody = .empty
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// The same for a URL as text.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` for what is no http or https URL.
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
  /// Calls a closure with how far the transfer is.
  ///
  /// The closure is called on its actor if it belongs to one, as a closure of a `@MainActor` screen
  /// does, and otherwise on the callback queue: ``SQOAuth/callbackQueue`` or
  /// ``AuthorizationModule/callbackQueue`` of the one that sends the request, and the main queue for
  /// ``CurlHTTPClient/send(_:)``. The calls come one after the other, and none comes after `send` has
  /// ended. The transfer does not wait for the closure: while that is busy, a newer statement replaces
  /// an older one. Before `send` returns a response, the last statement is delivered.
  ///
  /// A request that is sent again, after a 401, counts anew.
  public mutating func onProgress(_ closure: @escaping @isolated(any) (HTTPProgress) -> Void) {
    progressClosure = Completion(closure)
  }

  /// Sends this request with the app's closure, if it has one, called by way of `callbacks`.
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

/// What a request sends.
public enum HTTPRequestBody: Sendable {
  /// No content.
  case empty
  /// Bytes in memory.
  case bytes(Data)
  /// A file, read while it is sent; its length is taken when the request starts.
  case file(URL)
  /// Chunks that are asked for one at a time, when there is room for them; `nil` ends the body.
  ///
  /// `length` in bytes, or `nil` when it is not known (then chunked or HTTP/2 framing carries it).
  /// The outer closure is called once for each time the body is sent.
  case stream(
    length: Int64?, makeChunks: @Sendable () -> @Sendable () async throws -> Data?)
}

/// Where a response's content goes.
public enum HTTPDestination: Sendable {
  /// Into ``HTTPResponse/body``.
  case memory
  /// Into a file, which is made with mode 0600 or emptied once a response of status 2xx begins.
  ///
  /// The content of any other response goes into ``HTTPResponse/body``.
  case file(URL)
  /// To a consumer, in order; while it runs, at most a bounded amount is read ahead.
  ///
  /// The first call carries the head and no bytes. The content never stands in
  /// ``HTTPResponse/body``, whatever the status.
  case stream(@Sendable (HTTPResponseHead, Data) async throws -> Void)
}

/// How far a transfer is, in bytes of content.
public struct HTTPProgress: Sendable, Hashable {
  /// Sent so far.
  public var sent: Int64
  /// To be sent in all, where it is known.
  public var totalToSend: Int64?
  /// Received so far, after decompression.
  public var received: Int64
  /// To be received in all, where the server announced it and does not compress.
  public var totalToReceive: Int64?

  /// Makes a statement of progress.
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
  /// The text without query and fragment, which may hold secrets.
  var withoutQuery: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
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
