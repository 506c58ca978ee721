public import Basics
import LoopbackHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request that the sandbox received, as a test looks at it.
///
/// Printing shows the method and the path only, since all else may be a secret.
public struct SandboxRequest: Sendable {
  /// Which endpoint it was for; `nil` for a path that there is not.
  public let endpoint: SandboxEndpoint?
  /// The method, as sent.
  public let method: String
  /// The path, still percent-encoded.
  public let path: String
  /// The query, decoded, in order; empty where it is malformed.
  public let query: [SandboxParameter]
  /// The form of a POST, decoded, in order; empty where there is none or it is malformed.
  public let form: [SandboxParameter]
  /// The fields in order, with names in lower case.
  public private(set) var headers: [SandboxParameter]
  /// The body, as sent; empty where it was not read, or is larger than 1 MiB and kept no longer.
  public private(set) var body: Data
  /// How many bytes the body has.
  public let bodyLength: Int
  /// Whether the request was answered before its body was read.
  ///
  /// That is what becomes of an upload that is refused for its head, when it is large or waits for
  /// `100 Continue`, and of one that meets ``SandboxMisbehaviour/unread(_:)``.
  public let hasUnreadBody: Bool
  /// When it came, by the sandbox's clock.
  public let date: Date
  /// Tells connections apart: the port at the client's end.
  public let connection: UInt16
  /// Whether query and form could be decoded.
  let isWellFormed: Bool
  /// Whether the query could be decoded.
  let isQueryWellFormed: Bool
  /// What follows the path of the files, decoded.
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
    // To the drive it is a type like any other.
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

  /// The request as a test gets to see it, without what would fill the memory.
  var remembered: SandboxRequest {
    guard bodyLength > 1 << 20 else { return self }
    var request = self
    request.body = Data()
    return request
  }

  /// The request as it were, had these fields, named in lower case, not come.
  func without(_ fields: Set<String>) -> SandboxRequest {
    var request = self
    request.headers.removeAll { fields.contains($0.name) }
    return request
  }

  /// The members of a field that is a list, in however many lines it came; `nil` without one.
  func fieldList(_ name: String) -> String? {
    let lines = headers.filter { $0.name == name }.map(\.value)
    return lines.isEmpty ? nil : lines.joined(separator: ", ")
  }

  /// The value of a header field that came exactly once.
  public func header(_ name: String) -> String? { headers.value(name.lowercased()) }

  /// The Bearer token of an `Authorization` field that came exactly once.
  public var bearerToken: String? {
    let parts = header("authorization")?.split(separator: " ", maxSplits: 1) ?? []
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }

  /// The value of a query parameter that came exactly once.
  public func query(_ name: String) -> String? { query.value(name) }

  /// The value of a form parameter that came exactly once.
  public func form(_ name: String) -> String? { form.value(name) }
}

extension SandboxRequest: Redacted {
  /// The method and the path.
  public var description: String { "\(method) \(path)" }
}
