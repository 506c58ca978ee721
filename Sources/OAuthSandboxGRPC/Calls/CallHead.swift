import SQBasics
import SQHTTP2
import SQLoopbackHTTP2

/// The checked header fields of a call that the server needs.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Requests"
struct CallHead: Equatable {
  /// The answer to a request that is not a valid call.
  enum Refusal: Error, Equatable {
    /// To a request that is not gRPC: an HTTP status, and a header field that says what would be
    /// right.
    case http(Int, String, String)
    case call(CallStatus)
  }

  let method: TestService.Method
  /// The client's time limit for the call; `nil` if it sets none.
  let timeout: Duration?
  /// The value of `authorization`; `nil` if it is missing or occurs more than once.
  let authorization: String?
  /// Whether `grpc-encoding` allows compressed messages, which the server does not support.
  let isEncoded: Bool

  init(_ fields: [HTTP2Exchange.Field]) throws(Refusal) {
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    guard value(":method") == "POST" else { throw .http(405, "allow", "POST") }
    // Other HTTP/2 clients would take the status 200 for a success.
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
    let authorizations = fields.filter { $0.name == "authorization" }
    authorization = authorizations.count == 1 ? authorizations[0].value : nil
    isEncoded = !["identity", nil].contains(value("grpc-encoding"))
  }

  /// Returns whether a content type is `application/grpc`, with or without a format or parameters.
  private static func isGRPC(_ type: String) -> Bool {
    let type = type.lowercased()
    guard type.hasPrefix("application/grpc") else { return false }
    return ["+", ";", nil].contains(type.dropFirst("application/grpc".count).first)
  }
}
