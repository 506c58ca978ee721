/// The frame of a message in a request or answer: a flag, four bytes of length, then the message.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Length-Prefixed-Message"
enum MessageFrame {
  static let prefixLength = 5
  /// The maximum size of a received message in bytes, which is also the default of gRPC's own
  /// servers.
  static let limit = 4 << 20

  static let tooLarge = CallStatus(
    code: .resourceExhausted, message: "the message has more than \(limit) bytes")

  /// Returns a message with its prefix, uncompressed.
  static func bytes(_ message: [UInt8]) -> [UInt8] {
    let length = UInt32(message.count)
    return [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message
  }

  /// Returns the message of a request, which must contain exactly one.
  ///
  /// A compressed message is rejected: as unsupported if `isEncoded` is `true`, otherwise as
  /// malformed.
  static func onlyMessage(
    in content: [UInt8], isEncoded: Bool
  ) throws(CallStatus) -> ArraySlice<UInt8> {
    guard let flag = content.first else {
      throw .unimplemented("the method takes one message, and none came")
    }
    guard flag <= 1 else { throw .malformed("the request is not a gRPC message") }
    guard content.count >= prefixLength else { throw .malformed("the message is cut off") }
    let length = content[1..<prefixLength].reduce(0) { $0 << 8 | Int($1) }
    guard length <= limit else { throw tooLarge }
    let message = content[prefixLength...]
    guard message.count >= length else { throw .malformed("the message is cut off") }
    guard message.count == length else {
      throw .unimplemented("the method takes one message, and more came")
    }
    guard flag == 0 else {
      throw isEncoded
        ? .unimplemented("the server takes no compressed messages")
        : .malformed("the message is compressed, and grpc-encoding does not say how")
    }
    return message
  }
}
