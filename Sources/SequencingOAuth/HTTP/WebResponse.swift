public import SQBasics
public import SQFoundation

/// The status and the header fields of a response.
public struct WebResponseHead: Sendable, Hashable {
  /// The status code, from 200 to 599.
  public var status: Int
  /// The header fields, as received.
  public var headers: HeaderFields

  /// Creates a head from a status and header fields.
  public init(status: Int, headers: HeaderFields = [:]) {
    self.status = status
    self.headers = headers
  }
}

/// A complete HTTP response.
///
/// The client does not interpret it: the caller checks the status, the content type and every
/// field.
public struct WebResponse: Sendable, Hashable {
  /// The status and the header fields.
  public var head: WebResponseHead
  /// The content after decompression; empty if it went to a file or a closure.
  ///
  /// If the status is not 2xx, the content is here even if the destination is a file.
  public var body: Data
  /// The trailer fields, as received.
  public var trailers: HeaderFields

  /// Creates a response from its parts, for example in a test.
  public init(
    status: Int, headers: HeaderFields = [:], body: Data = Data(), trailers: HeaderFields = [:]
  ) {
    head = WebResponseHead(status: status, headers: headers)
    self.body = body
    self.trailers = trailers
  }

  /// The status code, from 200 to 599.
  public var status: Int { head.status }
  /// The header fields, as received.
  public var headers: HeaderFields { head.headers }
}

extension WebResponse: Redacted {
  /// The status and the size of the body, without its content.
  public var description: String { "\(status), \(body.count) bytes" }
}
