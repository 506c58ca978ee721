import Foundation
import SequencingOAuthGRPC

/// `grpc.testing.SimpleRequest`: which facts about the token the server must return.
struct TestRequest: Sendable, Equatable {
  var fillUsername = false
  var fillOAuthScope = false
}

/// `grpc.testing.SimpleResponse`: the facts about the token.
struct TestResponse: Sendable, Equatable {
  var username = ""
  var oauthScope = ""
}

/// Encodes two booleans as protobuf does: a key of field number and wire type, then a varint.
struct TestRequestCodec: MessageCodec {
  func encode(_ message: TestRequest) -> Data {
    var data = Data()
    if message.fillUsername { data += [4 << 3, 1] }
    if message.fillOAuthScope { data += [5 << 3, 1] }
    return data
  }

  func decode(_ bytes: Data) throws -> TestRequest {
    throw DecodingFailed()
  }
}

/// Decodes two texts as protobuf does: a key, a length below 128, and the bytes.
struct TestResponseCodec: MessageCodec {
  func encode(_ message: TestResponse) throws -> Data {
    throw DecodingFailed()
  }

  func decode(_ bytes: Data) throws -> TestResponse {
    var message = TestResponse()
    var rest = [UInt8](bytes)[...]
    while let key = rest.popFirst() {
      guard let length = rest.popFirst(), length < 128, rest.count >= length else {
        throw DecodingFailed()
      }
      let text = String(decoding: rest.prefix(Int(length)), as: UTF8.self)
      rest = rest.dropFirst(Int(length))
      switch key {
      case 2 << 3 | 2: message.username = text
      case 3 << 3 | 2: message.oauthScope = text
      default: throw DecodingFailed()
      }
    }
    return message
  }
}

struct DecodingFailed: Error {}

extension RPCMethod where Request == TestRequest, Response == TestResponse {
  static let unaryCall = Self(
    "/grpc.testing.TestService/UnaryCall", request: TestRequestCodec(),
    response: TestResponseCodec())
}

/// Returns the path of a method of the test service.
func method(_ name: String) -> String { "/grpc.testing.TestService/\(name)" }
