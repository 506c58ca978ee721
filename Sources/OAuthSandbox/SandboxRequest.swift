public import SQBasics
public import SQFoundation
import SQLoopback

/// A request that the sandbox received, for a test to inspect.
///
/// Its description shows only the method and the path, because the rest may contain secrets.
public struct SandboxRequest: Sendable {
  /// The endpoint of the request; `nil` for an unknown path.
  public let endpoint: SandboxEndpoint?
  /// The request's method, as the client sent it.
  public let method: String
  /// The request's path, still percent-encoded.
  public let path: String
  /// The decoded query, in order; empty if it is malformed.
  public private(set) var query: [SandboxParameter]
  /// The decoded form in the body, in order; empty if there is none or it is malformed.
  ///
  /// It is also empty for an upload to the drive, where a form is the content of a file, and if the
  /// sandbox has removed the ``body``.
  public private(set) var form: [SandboxParameter]
  /// The header fields in order, with their names in lower case.
  public private(set) var headers: [SandboxParameter]
  /// The body as the client sent it; empty if it was not read or is larger than 1 MiB.
  ///
  /// The sandbox keeps 64 MiB of bodies, and removes the oldest ones.
  public private(set) var body: Data
  /// The number of bytes in the body; 0 if the body was not read.
  public let bodyLength: Int
  /// Whether the request was answered before its body was read.
  ///
  /// This happens to a request that ``SandboxMisbehaviour/unread(_:)`` answers. It also happens to
  /// an upload that is rejected because of its header fields, if the upload is large or of unknown
  /// length, or waits for `100 Continue`.
  public let hasUnreadBody: Bool
  /// The date when the request arrived, on the sandbox's clock.
  public let date: Date
  /// The client's port, which differs between connections.
  public let connection: UInt16
  /// Whether the query is valid and the body is a valid form or empty.
  let isWellFormed: Bool
  /// Whether the query could be decoded.
  let isQueryWellFormed: Bool
  /// The thumbprint of the key in the request's proof; `nil` until the proof is verified.
  private(set) var provenKey: String?
  /// The fault that a test has planned for the token in the answer to this request.
  private(set) var proofFault: SandboxDPoPFault?
  /// The file's ID: the decoded rest of the path after the endpoint's path.
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
    let type = request.header("content-type")?.mediaType
    // A form that is uploaded to the drive is the content of a file, so it is not decoded.
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

  /// This request as the log keeps it: without the body if it is larger than 1 MiB.
  var remembered: SandboxRequest {
    guard bodyLength > 1 << 20 else { return self }
    var request = self
    request.body = Data()
    return request
  }

  /// This request without its body and form.
  var withoutContent: SandboxRequest {
    var request = self
    (request.body, request.form) = (Data(), [])
    return request
  }

  /// Returns this request with its query replaced by the parameters that the client pushed.
  func with(query: [SandboxParameter]) -> SandboxRequest {
    var request = self
    request.query = query
    return request
  }

  /// Returns this request with the thumbprint of the key in its verified proof.
  func with(provenKey: String?) -> SandboxRequest {
    var request = self
    request.provenKey = provenKey
    return request
  }

  /// Returns this request with the fault that a test has planned for the token in the answer.
  func with(proofFault: SandboxDPoPFault) -> SandboxRequest {
    var request = self
    request.proofFault = proofFault
    return request
  }

  /// Returns this request without some header fields, whose names must be in lower case.
  func without(_ fields: Set<String>) -> SandboxRequest {
    var request = self
    request.headers.removeAll { fields.contains($0.name) }
    return request
  }

  /// Returns the joined lines of a list field, or `nil` if the field is missing.
  func fieldList(_ name: String) -> String? {
    let lines = headers.filter { $0.name == name }.map(\.value)
    return lines.isEmpty ? nil : lines.joined(separator: ", ")
  }

  /// Returns the value of the header field with this name, or `nil` if it is missing or repeated.
  public func header(_ name: String) -> String? { headers.value(name.lowercased()) }

  /// The token in `Authorization` with the scheme `Bearer`.
  ///
  /// It is `nil` if the field has another scheme, is missing or occurs more than once.
  public var bearerToken: String? {
    header("authorization").flatMap(Self.bearerToken)
  }

  /// Returns the token in an `Authorization` field's value, or `nil` if the scheme is not `Bearer`.
  package static func bearerToken(in value: String) -> String? {
    token("bearer", in: value)
  }

  /// Returns the token in an `Authorization` field's value, or `nil` if the scheme is not `DPoP`.
  package static func boundToken(in value: String) -> String? {
    token("dpop", in: value)
  }

  /// Returns the token in an `Authorization` field's value, or `nil` if its scheme is not `scheme`.
  private static func token(_ scheme: String, in value: String) -> String? {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
    return String(parts[1])
  }

  /// Returns the value of the query parameter with this name, or `nil` if it is missing or
  /// repeated.
  public func query(_ name: String) -> String? { query.value(name) }

  /// Returns the value of the form parameter with this name, or `nil` if it is missing or repeated.
  public func form(_ name: String) -> String? { form.value(name) }
}

extension String {
  /// The media type in a field `Content-Type`, in lower case and without its parameters.
  package var mediaType: String { prefix { $0 != ";" }.trimmed.lowercased() }
}

extension SandboxRequest: Redacted {
  /// The method and the path, without the rest, which may contain secrets.
  public var description: String { "\(method) \(path)" }
}
