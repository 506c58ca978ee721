#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Turns messages of one type into bytes and back.
public protocol MessageCodec<Message>: Sendable {
  /// What a caller holds.
  associatedtype Message: Sendable

  /// The bytes of a message; an error that it throws ends the call with ``RPCStatus/internal``.
  func encode(_ message: Message) throws -> Data

  /// The message of these bytes; an error that it throws ends the call with
  /// ``RPCStatus/internal``.
  func decode(_ bytes: Data) throws -> Message
}

/// Messages that are bytes already.
public struct BytesCodec: MessageCodec {
  /// Makes the codec.
  public init() {}

  /// The bytes themselves.
  public func encode(_ message: Data) -> Data { message }
  /// The bytes themselves.
  public func decode(_ bytes: Data) -> Data { bytes }
}

extension MessageCodec {
  func bytes(of message: Message) throws(RPCError) -> Data {
    do {
      return try encode(message)
    } catch {
      throw RPCError(.internal, "the message could not be encoded", cause: error)
    }
  }

  func message(of bytes: Data) throws(RPCError) -> Message {
    do {
      return try decode(bytes)
    } catch {
      throw RPCError(.internal, "the server's message could not be decoded", cause: error)
    }
  }
}
