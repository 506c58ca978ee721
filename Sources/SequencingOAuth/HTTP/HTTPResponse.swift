public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The status and the header fields of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The status code, 200 to 599.
  public var status: Int
  /// The header fields, as they came.
  public var headers: HTTPFields

  /// Makes a head from a status and header fields.
  public init(status: Int, headers: HTTPFields = [:]) {
    self.status = status
    self.headers = headers
  }
}

/// A complete HTTP response.
///
/// The client has not judged its meaning: the caller checks the status, the content type and every
/// field.
public struct HTTPResponse: Sendable, Hashable {
  /// The status and the header fields.
  public var head: HTTPResponseHead
  /// The content, decompressed; empty if it went to a file or a closure.
  ///
  /// With a status other than 2xx it is here even if the destination is a file.
  public var body: Data
  /// The trailer fields, as they came.
  public var trailers: HTTPFields

  /// Makes a response from its parts, for example in a test.
  public init(
    status: Int, headers: HTTPFields = [:], body: Data = Data(), trailers: HTTPFields = [:]
  ) {
    head = HTTPResponseHead(status: status, headers: headers)
    self.body = body
    self.trailers = trailers
  }

  /// The status code, 200 to 599.
  public var status: Int { head.status }
  /// The header fields, as they came.
  public var headers: HTTPFields { head.headers }
}

extension HTTPResponse: Redacted {
  /// The status and the size of the body, without its content.
  public var description: String { "\(status), \(body.count) bytes" }
}
