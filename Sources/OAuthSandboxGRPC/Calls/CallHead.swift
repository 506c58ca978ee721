import SQBasics
import SQHTTP2
import SQLoopbackHTTP2

/// The fields of a call that the server obeys, checked.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Requests"
struct CallHead: Equatable {
  /// The answer to a request that cannot be a call of a method.
  enum Refusal: Error, Equatable {
    /// To a client that does not speak gRPC: a status of HTTP, with a field and its value that say
    /// what would be right.
    case http(Int, String, String)
    case call(CallStatus)
  }

  let method: TestService.Method
  /// How long the client waits for the end of the call; `nil` if it sets no limit.
  let timeout: Duration?
  /// The value of `authorization`; `nil` if it is missing or came more than once.
  let authorization: String?
  /// Whether messages may be compressed with a method that the server does not know.
  let isEncoded: Bool

  init(_ fields: [HTTP2Exchange.Field]) throws(Refusal) {
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    guard value(":method") == "POST" else { throw .http(405, "allow", "POST") }
    // Other clients of HTTP/2 could take the status 200 for a success.
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

  /// Whether a content type is `application/grpc`, with or without a format or parameters.
  private static func isGRPC(_ type: String) -> Bool {
    let type = type.lowercased()
    guard type.hasPrefix("application/grpc") else { return false }
    return ["+", ";", nil].contains(type.dropFirst("application/grpc".count).first)
  }
}
