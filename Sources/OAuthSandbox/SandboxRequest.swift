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
  public let headers: [SandboxParameter]
  /// The body, as sent.
  public let body: Data
  /// When it came, by the sandbox's clock.
  public let date: Date
  /// Tells connections apart: the port at the client's end.
  public let connection: UInt16
  /// Whether query and form could be decoded.
  let isWellFormed: Bool

  init(_ request: LoopbackRequest, date: Date) {
    method = request.method
    path = request.path
    endpoint = SandboxEndpoint(path: request.path)
    headers = request.headers.map { SandboxParameter(name: $0.name, value: $0.value) }
    body = request.body
    self.date = date
    connection = request.peerPort
    let query = FormCoding.decode(request.query ?? "")
    let type = request.header("content-type")?.prefix { $0 != ";" }.lowercased()
    let isForm = type == "application/x-www-form-urlencoded"
    let form = isForm ? FormCoding.decode(String(decoding: request.body, as: UTF8.self)) : []
    self.query = query ?? []
    self.form = form ?? []
    isWellFormed = query != nil && form != nil && (isForm || request.body.isEmpty)
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

extension SandboxRequest: CustomStringConvertible, CustomReflectable {
  /// The method and the path.
  public var description: String { "\(method) \(path)" }
  /// The method and the path.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
