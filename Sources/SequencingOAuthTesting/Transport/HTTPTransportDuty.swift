/// A duty of an app's own `HTTPTransport`, which the SDK relies on.
public enum HTTPTransportDuty: String, Sendable, Hashable, CaseIterable {
  /// The request has the method as it is written, any method.
  case method
  /// The request has the path and the query of its URL as they are written, with each escape.
  case url
  /// The request has each header field, with its value and as often as it is given.
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
  /// Without another destination, the response has its whole content.
  case memory
  /// The content of a 2xx response replaces a file, and that of any other response is in its body.
  case file
  /// The file of a response has the mode 0600, so that no other user can read it.
  case fileMode
  /// A link in place of the response's file is an error, and the file behind it stays as it is.
  case fileLink
  /// A closure gets the head without bytes, then the content in order; its error ends the request.
  case stream
  /// Every status is a response and not an error.
  case status
  /// The response has all header fields, repeated ones too.
  case responseFields
  /// A response that breaks off is an error.
  case truncation
  /// Each request is sent once, whatever becomes of it. The server may have used a code or a
  /// refresh token although its response was lost.
  case once
  /// A redirect is a response: the client does not follow it.
  case redirects
  /// No cookie of a response is sent with another request.
  case cookies
  /// Each request goes to the server, whatever a response says about caching.
  case cache
  /// The client offers gzip in `Accept-Encoding`, and decompresses the content.
  case compression
  /// Content of more than `maximumResponseBytes` is an error for each destination, also if it is
  /// larger only after decompression.
  case responseLimit
  /// The request ends after its `timeout`, also while the server sends a byte now and then.
  case timeLimit
  /// A request without a `timeout` ends when no byte has come for its `idleTimeout`.
  case idleLimit
  /// The closure `progress` gets all bytes of both directions in the end.
  case progress
  /// The cancellation of the task ends the request with `CancellationError` or `cancelled`.
  case cancellation
  /// The closure for `whenStarted` ends the request with `CancellationError` or `cancelled`.
  case interruption
  /// A server that cannot be reached is an error, at once.
  case refusedConnection
  /// Requests of several tasks at the same time get their own responses.
  case concurrency
}

/// A duty that an `HTTPTransport` breaks, with what it did instead.
public struct BrokenTransportDuty: Sendable, Hashable, CustomStringConvertible {
  /// The broken duty.
  public let duty: HTTPTransportDuty
  /// The behavior that breaks it, in a few words.
  public let finding: String

  /// The name of the duty and the behavior that breaks it.
  public var description: String { "\(duty.rawValue): \(finding)" }
}
