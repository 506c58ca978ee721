public import SQBasics
import SQLoopback

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request that the sandbox received, for a test to inspect.
///
/// Printing it shows only the method and the path, since the rest may contain secrets.
public struct SandboxRequest: Sendable {
  /// The endpoint of the request; `nil` for an unknown path.
  public let endpoint: SandboxEndpoint?
  /// The request's method, as the client sent it.
  public let method: String
  /// The request's path, still percent-encoded.
  public let path: String
  /// The decoded query, in order; empty if it is malformed.
  public let query: [SandboxParameter]
  /// The decoded form of a POST, in order; empty if there is none or it is malformed.
  public let form: [SandboxParameter]
  /// The header fields in order, with their names in lower case.
  public private(set) var headers: [SandboxParameter]
  /// The body as the client sent it; empty if it was not read or has more than 1 MiB.
  public private(set) var body: Data
  /// The number of bytes in the body.
  public let bodyLength: Int
  /// Whether the request was answered before its body was read.
  ///
  /// This happens to a request that ``SandboxMisbehaviour/unread(_:)`` answers. It also happens to
  /// an upload that is refused because of its header fields, if it is large or waits for `100
  /// Continue`.
  public let hasUnreadBody: Bool
  /// When the request arrived, by the sandbox's clock.
  public let date: Date
  /// The port at the client's end, which differs between connections.
  public let connection: UInt16
  /// Whether both query and form could be decoded.
  let isWellFormed: Bool
  /// Whether the query could be decoded.
  let isQueryWellFormed: Bool
  /// The decoded text after the path of the files: a file's ID.
  let fileID: String?

  init(_ request: LoopbackRequest, date: Date) {
    method = request.method
    path = request.path
    headers = request.headers.map { SandboxParameter(name: $0.name, value: $0.value) }
    body = request.body
    bodyLength = request.body.count
    hasUnreadBody = request.hasUnreadBody
    self.date = date
    connection = request.peerPort
    let query = FormCoding.decode(request.query ?? "")
    let endpoint = SandboxEndpoint(request.method, path: request.path, query: query ?? [])
    self.endpoint = endpoint
    fileID = Self.fileID(request.path, endpoint)
    let type = request.header("content-type")?.prefix { $0 != ";" }.lowercased()
    // For the drive a form is a content like any other.
    let isForm = type == "application/x-www-form-urlencoded" && endpoint != .driveUpload
    let form = isForm ? FormCoding.decode(String(decoding: request.body, as: UTF8.self)) : []
    self.query = query ?? []
    self.form = form ?? []
    isQueryWellFormed = query != nil
    isWellFormed = query != nil && form != nil && (isForm || request.body.isEmpty)
  }

  private static func fileID(_ path: String, _ endpoint: SandboxEndpoint?) -> String? {
    guard let endpoint, path.hasPrefix(endpoint.path + "/") else { return nil }
    return URLComponents(string: String(path.dropFirst(endpoint.path.count + 1)))?.path
  }

  /// The request as tests get it, without a large body, which would fill the memory.
  var remembered: SandboxRequest {
    guard bodyLength > 1 << 20 else { return self }
    var request = self
    request.body = Data()
    return request
  }

  /// This request without some fields, whose names must be in lower case.
  func without(_ fields: Set<String>) -> SandboxRequest {
    var request = self
    request.headers.removeAll { fields.contains($0.name) }
    return request
  }

  /// The members of a field that is a list, from all its lines; `nil` if the field is missing.
  func fieldList(_ name: String) -> String? {
    let lines = headers.filter { $0.name == name }.map(\.value)
    return lines.isEmpty ? nil : lines.joined(separator: ", ")
  }

  /// The value of the header field with this name; `nil` if it is missing or came more than once.
  public func header(_ name: String) -> String? { headers.value(name.lowercased()) }

  /// The Bearer token in `Authorization`; `nil` if it is missing or the field came more than once.
  public var bearerToken: String? {
    header("authorization").flatMap(Self.bearerToken)
  }

  /// The token in the value of an `Authorization` field; `nil` if the value has another scheme.
  package static func bearerToken(in value: String) -> String? {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }

  /// The value of the query parameter with this name; `nil` if it is missing or came more than
  /// once.
  public func query(_ name: String) -> String? { query.value(name) }

  /// The value of the form parameter with this name; `nil` if it is missing or came more than once.
  public func form(_ name: String) -> String? { form.value(name) }
}

extension SandboxRequest: Redacted {
  /// The method and the path alone, since the rest may contain secrets.
  public var description: String { "\(method) \(path)" }
}
