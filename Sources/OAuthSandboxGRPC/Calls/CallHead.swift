import OAuthSandbox
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2

/// The header fields that the server needs from a call, after their check.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Requests"
struct CallHead {
  /// The answer to a request that is not a valid call.
  enum Refusal: Error, Equatable {
    /// The answer to a request that is not gRPC: an HTTP status, and a header field that says what
    /// the server accepts.
    case http(Int, String, String)
    case call(CallStatus)
  }

  let method: TestService.Method
  /// The client's time limit for the call; `nil` if it sets none.
  let timeout: Duration?
  /// The parts of the call that are needed to check its token and its proof.
  let provable: ProvableRequest
  /// Whether `grpc-encoding` names a compression; the server supports none.
  let isEncoded: Bool

  init(_ exchange: HTTP2Exchange) throws(Refusal) {
    let fields = exchange.fields
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    guard value(":method") == "POST" else { throw .http(405, "allow", "POST") }
    // An HTTP error is needed: a client that is not a gRPC client would take 200 for a success.
    guard Self.isGRPC(value("content-type") ?? "") else {
      throw .http(415, "accept", "application/grpc")
    }
    do throws(CallStatus) {
      method = try TestService.method(at: value(":path") ?? "")
      timeout = try value("grpc-timeout").map { text throws(CallStatus) in
        guard let timeout = TimeoutField.duration(text) else {
          throw .malformed("the call has a malformed grpc-timeout")
        }
        return timeout
      }
    } catch {
      throw .call(error)
    }
    let authority = Self.own(value(":authority") ?? value("host") ?? "", port: exchange.port)
    provable = ProvableRequest(
      method: "POST", address: "http://\(authority)\(value(":path") ?? "")",
      fields: fields.map { SandboxParameter(name: $0.name, value: $0.value) })
    isEncoded = !["identity", nil].contains(value("grpc-encoding"))
  }

  /// Returns the call's authority if it names this server; otherwise, the server's own name.
  ///
  /// A proof is checked against this name. If any authority were accepted, a thief could use a
  /// proof for another server here by sending that server's name.
  private static func own(_ authority: String, port: UInt16) -> String {
    let names = ["127.0.0.1:\(port)", "localhost:\(port)"]
    return names.contains(authority.lowercased()) ? authority : names[0]
  }

  /// Returns whether a content type is `application/grpc`, with or without a format or parameters.
  private static func isGRPC(_ type: String) -> Bool {
    let type = type.mediaType
    return type == "application/grpc" || type.hasPrefix("application/grpc+")
  }
}
