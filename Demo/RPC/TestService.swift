import SQFoundation
import SequencingOAuthGRPC

/// The service of gRPC's authentication examples, with the method that returns a token's user.
///
/// ```proto
/// package grpc.testing;
///
/// service TestService {
///   rpc UnaryCall(Request) returns (Response);
/// }
/// message Request {
///   bool fill_username = 4;
///   bool fill_oauth_scope = 5;
/// }
/// message Response {
///   string username = 2;
///   string oauth_scope = 3;
/// }
/// ```
enum TestService {
  static let unaryCall = RPCMethod(
    "/grpc.testing.TestService/UnaryCall", request: Request.Codec(), response: Response.Codec())

  /// The request: whether the answer must contain the token's user and scope.
  struct Request: Sendable, Equatable {
    var fillUsername = false
    var fillOAuthScope = false

    struct Codec: MessageCodec {
      func encode(_ message: Request) -> Data {
        Protobuf.field(4, message.fillUsername) + Protobuf.field(5, message.fillOAuthScope)
      }

      func decode(_ bytes: Data) throws -> Request {
        let fields = try Protobuf.fields(bytes)
        return Request(
          fillUsername: fields[4]?.isTrue ?? false, fillOAuthScope: fields[5]?.isTrue ?? false)
      }
    }
  }

  /// The response with the token's user and scope.
  struct Response: Sendable, Equatable {
    var username = ""
    var oauthScope = ""

    struct Codec: MessageCodec {
      func encode(_ message: Response) -> Data {
        Protobuf.field(2, message.username) + Protobuf.field(3, message.oauthScope)
      }

      func decode(_ bytes: Data) throws -> Response {
        let fields = try Protobuf.fields(bytes)
        return Response(
          username: try fields[2]?.text() ?? "", oauthScope: try fields[3]?.text() ?? "")
      }
    }
  }
}
