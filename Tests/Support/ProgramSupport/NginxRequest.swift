import Foundation

/// A request in nginx's log; nginx logs it after the answer.
package struct NginxRequest: Sendable, Hashable, Decodable, CustomStringConvertible {
  package let method: String
  /// The path and the query, as sent.
  package let target: String
  /// `HTTP/1.1` or `HTTP/2.0`.
  package let `protocol`: String
  package let status: Int
  /// Whether the request had an `Authorization` field.
  package let isAuthorized: Bool
  /// The `Range` field, or an empty text.
  package let range: String
  /// The number of bytes of the request, head and body.
  package let requestLength: Int
  /// The number of bytes of the answer that were sent, head and body.
  package let bytesSent: Int
  /// The number of bytes of the answer's body that were sent.
  package let contentSent: Int
  /// Whether the answer was sent to its end.
  package let isComplete: Bool
  /// The number of the connection.
  package let connection: Int

  /// The request and its status, such as `PUT /files/a 401`, and whether it lacked a token.
  package var description: String {
    "\(method) \(target) \(status)" + (isAuthorized ? "" : " without a token")
  }
}
