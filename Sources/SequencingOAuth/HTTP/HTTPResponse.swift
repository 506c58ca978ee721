public import Basics

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

  /// Makes a head.
  public init(status: Int, headers: HTTPFields = [:]) {
    self.status = status
    self.headers = headers
  }
}

/// A response that came to its end.
///
/// Nothing in it is believed yet: whoever asked checks status, content type and every field.
public struct HTTPResponse: Sendable, Hashable {
  /// The status and the header fields.
  public var head: HTTPResponseHead
  /// The content, decompressed; empty where the request's destination took it.
  public var body: Data
  /// The trailer fields, as they came.
  public var trailers: HTTPFields

  /// Makes a response.
  public init(
    status: Int, headers: HTTPFields = [:], body: Data = Data(), trailers: HTTPFields = [:]
  ) {
    head = HTTPResponseHead(status: status, headers: headers)
    self.body = body
    self.trailers = trailers
  }

  /// The status code.
  public var status: Int { head.status }
  /// The header fields.
  public var headers: HTTPFields { head.headers }
}

extension HTTPResponse: Redacted {
  /// The status and the size, without content.
  public var description: String { "\(status), \(body.count) bytes" }
}
