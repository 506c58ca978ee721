/// A duty of an app's own `HTTPTransport`; the SDK relies on it.
public enum HTTPTransportDuty: String, Sendable, Hashable, CaseIterable {
  /// The request's method is sent unchanged, whatever it is.
  case method
  /// The path and the query of the URL are sent unchanged, with each percent-escape.
  case url
  /// Each header field is sent with its value; fields of one name may be combined, with commas.
  case fields
  /// A request without content is sent without content.
  case emptyBody
  /// Content in memory is sent byte for byte, with its length.
  case bytesBody
  /// The content of a file is sent byte for byte, with its length.
  case fileBody
  /// The chunks of a stream are sent in order, with the length if it is known, and the closure that
  /// makes them is called once.
  case streamBody
  /// For the destination `memory`, the response's body contains the whole content.
  case memory
  /// For the destination `file`, the content of a 2xx response replaces the file's content, and the
  /// content of any other response is in its body.
  case file
  /// The file for a response's content has the mode 0600, so that no other user can read it.
  case fileMode
  /// If the path of the file is a symbolic link, the request fails, and the link's target does not
  /// change.
  case fileLink
  /// For the destination `stream`, the closure's first call gets the head and no bytes, and its
  /// later calls get the content in order; an error of the closure ends the request.
  case stream
  /// A response with any status is returned, and is not an error.
  case status
  /// The response has all header fields, including repeated fields.
  case responseFields
  /// A response that ends before its announced length is an error.
  case truncation
  /// Each request is sent once, even if it fails. The server may have used a code or a refresh
  /// token although its response was lost.
  case once
  /// A redirect is a response: the client does not follow it.
  case redirects
  /// No cookie of a response is sent with another request.
  case cookies
  /// Each request goes to the server, even if an earlier response allows caching.
  case cache
  /// The client offers gzip in `Accept-Encoding`, and decompresses the content.
  case compression
  /// Content of more than `maximumResponseBytes` is an error for each destination, even if it
  /// exceeds the limit only after decompression.
  case responseLimit
  /// The request ends after its `timeout`, even if the server still sends a byte now and then.
  case timeLimit
  /// A request without a `timeout` ends when no byte has arrived during its `idleTimeout`.
  case idleLimit
  /// The last call of the closure `progress` reports all bytes that were sent and received.
  case progress
  /// The cancellation of the task ends the request with `CancellationError` or `cancelled`.
  case cancellation
  /// The closure that `whenStarted` receives ends the request with `CancellationError` or
  /// `cancelled`.
  case interruption
  /// A request to a server that cannot be reached fails at once.
  case refusedConnection
  /// Requests that run at the same time each get their own response.
  case concurrency
}

/// A duty that an `HTTPTransport` breaks, and how it breaks the duty.
public struct BrokenTransportDuty: Sendable, Hashable, CustomStringConvertible {
  /// The broken duty.
  public let duty: HTTPTransportDuty
  /// The behavior that breaks it, in a few words.
  public let finding: String

  /// The name of the duty and the behavior that breaks it.
  public var description: String { "\(duty.rawValue): \(finding)" }
}
