import Foundation
import SequencingOAuthGRPC

@testable import GRPCSupport

/// A client's message in gRPC's interoperability tests.
protocol InteropRequest: Sendable {
  var fields: WireFields { get }
}

/// A server's message in gRPC's interoperability tests.
protocol InteropResponse: Sendable {
  init(_ fields: WireFields) throws
}

/// `EchoStatus`: the status with which the server ends the call.
struct EchoStatus {
  var code: Int
  var message: String

  fileprivate var fields: WireFields {
    var fields = WireFields()
    fields.set(1, code)
    fields.set(2, message)
    return fields
  }
}

extension WireFields {
  /// Returns `BoolValue`, or `nil` without a value.
  fileprivate static func flag(_ value: Bool?) -> Self? {
    value.map { value in
      var fields = WireFields()
      fields.set(1, value)
      return fields
    }
  }

  /// Returns `Payload`: bytes of any size.
  fileprivate static func payload(_ body: Data?) -> Self? {
    body.map { body in
      var fields = WireFields()
      fields.set(2, body)
      return fields
    }
  }
}

struct SimpleRequest: InteropRequest {
  var responseSize = 0
  var payload: Data?
  var fillUsername = false
  var fillOAuthScope = false
  var responseCompressed: Bool?
  var responseStatus: EchoStatus?
  var expectCompressed: Bool?

  var fields: WireFields {
    var fields = WireFields()
    fields.set(2, responseSize)
    fields.set(3, .payload(payload))
    fields.set(4, fillUsername)
    fields.set(5, fillOAuthScope)
    fields.set(6, .flag(responseCompressed))
    fields.set(7, responseStatus?.fields)
    fields.set(8, .flag(expectCompressed))
    return fields
  }
}

struct SimpleResponse: InteropResponse {
  let payload: Data
  let username: String
  let oauthScope: String

  init(_ fields: WireFields) throws {
    payload = try fields.message(1).bytes(2)
    username = fields.text(2)
    oauthScope = fields.text(3)
  }
}

/// The protobuf message `StreamingInputCallRequest`.
struct InputRequest: InteropRequest {
  var payload: Data
  var expectCompressed: Bool?

  var fields: WireFields {
    var fields = WireFields()
    fields.set(1, .payload(payload))
    fields.set(2, .flag(expectCompressed))
    return fields
  }
}

/// The protobuf message `StreamingInputCallResponse`.
struct InputResponse: InteropResponse {
  let aggregatedPayloadSize: Int

  init(_ fields: WireFields) {
    aggregatedPayloadSize = fields.number(1)
  }
}

/// `ResponseParameters`: one message that the server sends.
struct ResponseParameters {
  var size: Int
  var compressed: Bool?

  fileprivate var fields: WireFields {
    var fields = WireFields()
    fields.set(1, size)
    fields.set(3, .flag(compressed))
    return fields
  }
}

/// The protobuf message `StreamingOutputCallRequest`.
struct OutputRequest: InteropRequest {
  var responses: [ResponseParameters] = []
  var payload: Data?
  var responseStatus: EchoStatus?

  var fields: WireFields {
    var fields = WireFields()
    for response in responses { fields.set(2, response.fields) }
    fields.set(3, .payload(payload))
    fields.set(7, responseStatus?.fields)
    return fields
  }
}

/// The protobuf message `StreamingOutputCallResponse`.
struct OutputResponse: InteropResponse {
  let payload: Data

  init(_ fields: WireFields) throws {
    payload = try fields.message(1).bytes(2)
  }
}

/// Encodes a request of the interoperability tests.
struct InteropRequestCodec<Message: InteropRequest>: MessageCodec {
  func encode(_ message: Message) -> Data { message.fields.bytes }
  func decode(_ bytes: Data) throws -> Message { throw DecodingFailed() }
}

/// Decodes a response of the interoperability tests.
struct InteropResponseCodec<Message: InteropResponse>: MessageCodec {
  func encode(_ message: Message) throws -> Data { throw DecodingFailed() }
  func decode(_ bytes: Data) throws -> Message { try Message(WireFields(bytes)) }
}

extension RPCMethod where Request == SimpleRequest, Response == SimpleResponse {
  static let interopUnary = Self(
    "/grpc.testing.TestService/UnaryCall", request: InteropRequestCodec(),
    response: InteropResponseCodec())
}
