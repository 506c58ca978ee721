public import SQFoundation

/// A converter between messages of one type and bytes.
public protocol MessageCodec<Message>: Sendable {
  /// The type of the messages, as the app uses them.
  associatedtype Message: Sendable

  /// Encodes a message; if it throws, the caller gets an error with ``RPCStatus/internal``.
  func encode(_ message: Message) throws -> Data

  /// Decodes a message; if it throws, the caller gets an error with ``RPCStatus/internal``.
  func decode(_ bytes: Data) throws -> Message
}

/// A codec for messages that are already encoded; it returns the bytes unchanged.
public struct BytesCodec: MessageCodec {
  /// Creates the codec.
  public init() {}

  /// Returns the bytes unchanged.
  public func encode(_ message: Data) -> Data { message }
  /// Returns the bytes unchanged.
  public func decode(_ bytes: Data) -> Data { bytes }
}

extension MessageCodec {
  func bytes(of message: Message) throws(RPCCallError) -> Data {
    do {
      return try encode(message)
    } catch {
      throw RPCCallError(.internal, "the message could not be encoded", cause: error)
    }
  }

  func message(of bytes: Data) throws(RPCCallError) -> Message {
    do {
      return try decode(bytes)
    } catch {
      throw RPCCallError(.internal, "the server's message could not be decoded", cause: error)
    }
  }
}
