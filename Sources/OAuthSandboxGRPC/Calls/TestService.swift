import OAuthSandbox

/// The methods and messages of `grpc.testing.TestService` that the server supports.
///
/// ```proto
/// package grpc.testing;
///
/// service TestService {
///   rpc UnaryCall(Request) returns (Response);
///   rpc StreamingOutputCall(StreamingOutputCallRequest)
///     returns (stream StreamingOutputCallResponse);
/// }
/// message Request {
///   bool fill_username = 4;
///   bool fill_oauth_scope = 5;
/// }
/// message Response {
///   string username = 2;
///   string oauth_scope = 3;
/// }
/// message StreamingOutputCallRequest {
///   repeated ResponseParameters response_parameters = 2;
/// }
/// message ResponseParameters {
///   int32 size = 1;
///   int32 interval_us = 2;
/// }
/// message StreamingOutputCallResponse {
///   Payload payload = 1;
///   string username = 2;     // only in the sandbox
///   string oauth_scope = 3;  // only in the sandbox
/// }
/// message Payload {
///   bytes body = 2;
/// }
/// ```
enum TestService {
  enum Method: String, CaseIterable {
    case unaryCall = "UnaryCall"
    case streamingOutputCall = "StreamingOutputCall"
  }

  private static let name = "grpc.testing.TestService"

  /// Returns the method with this path.
  static func method(at path: String) throws(CallStatus) -> Method {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].isEmpty else {
      throw .unimplemented("the path is not that of a method")
    }
    guard parts[1] == name else {
      throw .unimplemented("this server has the service \(name) only")
    }
    guard let method = Method(rawValue: String(parts[2])) else {
      let all = Method.allCases.map(\.rawValue).joined(separator: " and ")
      throw .unimplemented("\(name) has the methods \(all) only")
    }
    return method
  }

  // MARK: UnaryCall

  struct Request: Equatable {
    private(set) var fillsUsername = false
    private(set) var fillsScope = false

    init(_ message: ArraySlice<UInt8>) throws(CallStatus) {
      for field in try ProtobufFields.all(in: message) {
        switch field {
        case (4, .number(let value)): fillsUsername = value != 0
        case (5, .number(let value)): fillsScope = value != 0
        default: break
        }
      }
    }
  }

  struct Response {
    let bytes: [UInt8]

    init(_ access: TokenAccess, for request: Request) {
      var message = ProtobufWriter()
      if request.fillsUsername { message.add(2, access.user) }
      if request.fillsScope { message.add(3, access.scopes.joined(separator: " ")) }
      bytes = message.bytes
    }
  }

  // MARK: StreamingOutputCall

  struct StreamingRequest: Equatable {
    private(set) var responses: [ResponseParameters] = []

    init(_ message: ArraySlice<UInt8>) throws(CallStatus) {
      for case (2, .bytes(let parameters)) in try ProtobufFields.all(in: message) {
        responses.append(try ResponseParameters(parameters))
      }
    }
  }

  /// The client's settings for one message of a stream.
  struct ResponseParameters: Equatable {
    /// The maximum size of a message's payload, in bytes.
    static let largestSize: Int32 = 1 << 20

    private(set) var size: Int32 = 0
    private(set) var interval: Duration = .zero

    init(_ message: ArraySlice<UInt8>) throws(CallStatus) {
      for field in try ProtobufFields.all(in: message) {
        switch field {
        case (1, .number(let value)): size = Int32(truncatingIfNeeded: value)
        case (2, .number(let value)): interval = .microseconds(Int32(truncatingIfNeeded: value))
        default: break
        }
      }
      guard (0...Self.largestSize).contains(size) else {
        throw CallStatus(
          code: .invalidArgument, message: "size must be from 0 to \(Self.largestSize)")
      }
      guard interval >= .zero else {
        throw CallStatus(code: .invalidArgument, message: "interval_us must not be negative")
      }
    }
  }

  struct StreamingResponse {
    let bytes: [UInt8]

    init(_ access: TokenAccess, size: Int32) {
      var payload = ProtobufWriter()
      payload.add(2, [UInt8](repeating: 0, count: Int(size)))
      var message = ProtobufWriter()
      message.add(1, payload.bytes)
      message.add(2, access.user)
      message.add(3, access.scopes.joined(separator: " "))
      bytes = message.bytes
    }
  }
}
