import OAuthSandbox
import SQHTTP2

/// The end of a call: a status, a message for a developer, and the sandbox's header fields about
/// tokens and proofs.
///
/// - SeeAlso: gRPC's `doc/statuscodes.md`
struct CallStatus: Error, Equatable {
  enum Code: Int {
    case ok = 0
    case cancelled = 1
    case invalidArgument = 3
    case deadlineExceeded = 4
    case permissionDenied = 7
    case resourceExhausted = 8
    case unimplemented = 12
    case `internal` = 13
    case unauthenticated = 16
  }

  let code: Code
  var message = ""
  /// The challenge if the token was rejected, and the nonce for the next proof.
  var fields: [SandboxParameter] = []

  static let ok = CallStatus(code: .ok)
  static let cancelled = CallStatus(code: .cancelled, message: "the call was cancelled")
  static let deadlineExceeded = CallStatus(
    code: .deadlineExceeded, message: "the deadline of the call has passed")
  static let noMessage = CallStatus(
    code: .deadlineExceeded, message: "the request's message did not come in time")

  static func malformed(_ message: String) -> CallStatus {
    CallStatus(code: .internal, message: message)
  }

  static func unimplemented(_ message: String) -> CallStatus {
    CallStatus(code: .unimplemented, message: message)
  }

  /// The header fields at the end of the answer.
  var trailers: HeaderBlock {
    var block = HeaderBlock(["grpc-status": "\(code.rawValue)"])
    if !message.isEmpty { block.append("grpc-message", PercentEncoding.encode(message)) }
    for field in fields { block.append(field.name.lowercased(), field.value) }
    return block
  }
}

extension CallStatus {
  init(_ refusal: TokenRefusal) {
    self.init(
      code: refusal.status == 403 ? .permissionDenied : .unauthenticated,
      message: refusal.message ?? "The call has no access token.", fields: refusal.fields)
  }

  /// Returns the status with an additional field, unless it already has a field of this name.
  func adding(_ field: SandboxParameter) -> CallStatus {
    var status = self
    if !fields.contains(where: { $0.name == field.name }) { status.fields.append(field) }
    return status
  }
}
