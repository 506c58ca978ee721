import Foundation

/// A request as nginx wrote it into its log when it had answered.
package struct NginxRequest: Sendable, Hashable, Decodable, CustomStringConvertible {
  package let method: String
  /// The path and the query, as sent.
  package let target: String
  /// `HTTP/1.1` or `HTTP/2.0`.
  package let `protocol`: String
  package let status: Int
  /// Whether it had an `Authorization` field.
  package let isAuthorized: Bool
  /// The `Range` field; empty where there was none.
  package let range: String
  /// How many bytes came, head and body.
  package let requestLength: Int
  /// How many bytes were sent, head and body.
  package let bytesSent: Int
  /// How many of them belong to the body.
  package let contentSent: Int
  /// Whether the answer was sent to its end.
  package let isComplete: Bool
  /// Tells connections apart.
  package let connection: Int

  /// `PUT /files/a 401`, and whether it had a token.
  package var description: String {
    "\(method) \(target) \(status)" + (isAuthorized ? "" : " without a token")
  }
}
