import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension RPCCall {
  // MARK: Any number of messages from the server

  /// The server's messages, in order; reading them starts the call where nobody has.
  ///
  /// The server is held back while nobody reads. The sequence throws how the call ended, if not
  /// with ``RPCStatus/ok``. To stop early, leave the loop: an iterator that goes before the end
  /// cancels the call.
  public var messages: RPCMessages<BytesCodec> { RPCMessages(call: self, codec: BytesCodec()) }

  /// The server's messages, decoded; like ``messages``.
  public func messages<Codec: MessageCodec>(as codec: Codec) -> RPCMessages<Codec> {
    RPCMessages(call: self, codec: codec)
  }

  /// The next message; `nil` at the end.
  func nextMessage() async throws(RPCError) -> Data? {
    guard kind.receivesMany else {
      throw RPCError(.failedPrecondition, "the server sends one message: await the response")
    }
    try startIfPrepared()
    guard let next = await inbox.next() else {
      cancel()
      throw .cancelled
    }
    guard let frame = try next.get() else { return nil }
    do throws(RPCError) {
      return try frame.message(
        encoding: state.withLock(\.encoding), limit: channel.options.maximumResponseBytes)
    } catch {
      end(.failure(error))
      throw error
    }
  }

  // MARK: Any number of messages to the server

  /// Sends a message of a call that sends any number, and returns when the transport has taken it.
  ///
  /// Starts the call where nobody has. Messages of several tasks go out in the order in which they
  /// asked. Cancelling the task withdraws the message, where it still waits.
  ///
  /// - Throws: how the call ended, where it has; ``RPCStatus/failedPrecondition`` behind
  ///   ``finishSending()``; ``RPCStatus/resourceExhausted`` for a message that is too large.
  public func send(_ message: Data) async throws(RPCError) {
    guard kind.sendsMany else {
      throw RPCError(.failedPrecondition, "the call sends one message, which it was made with")
    }
    let frame = try MessageFrame(
      message, compression: channel.options.compression, limit: channel.options.maximumRequestBytes)
    try startIfPrepared()
    switch await outbox.send(frame.bytes) {
    case .taken: return
    case .withdrawn: throw RPCError(.cancelled, "the message was withdrawn; it was not sent")
    case .refused:
      if case .failure(let error)? = outcome.current { throw error }
      throw RPCError(.failedPrecondition, "nothing more can be sent: the call's messages ended")
    }
  }

  /// Sends a message, encoded; like ``send(_:)``.
  public func send<Codec: MessageCodec>(
    _ message: Codec.Message, as codec: Codec
  ) async throws(RPCError) {
    try await send(try codec.bytes(of: message))
  }

  /// Tells the server that no further message comes.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` where the call has no such end.
  public func finishSending() throws(RPCError) {
    guard kind.sendsMany else {
      throw RPCError(.failedPrecondition, "the call sends one message, which it was made with")
    }
    try startIfPrepared()
    _ = outbox.finish()
  }
}

/// The messages that a server sends to one call.
public struct RPCMessages<Codec: MessageCodec>: AsyncSequence, Sendable {
  /// A message.
  public typealias Element = Codec.Message
  /// How a call ends.
  public typealias Failure = RPCError

  let call: RPCCall
  let codec: Codec

  /// Reads the messages that nobody has read.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reader: Reader(call: call), codec: codec)
  }

  /// Reads messages one by one.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader
    fileprivate let codec: Codec

    /// The next message; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCError) -> Codec.Message? {
      guard let bytes = try await reader.call.nextMessage() else { return nil }
      do throws(RPCError) {
        return try codec.message(of: bytes)
      } catch {
        reader.call.end(.failure(error))
        throw error
      }
    }

    /// The next message; `nil` at the end.
    public mutating func next() async throws(RPCError) -> Codec.Message? {
      try await next(isolation: #isolation)
    }
  }

  /// Ends the call with the last copy of an iterator.
  fileprivate final class Reader: Sendable {
    let call: RPCCall

    init(call: RPCCall) {
      self.call = call
    }

    deinit {
      call.cancel()
    }
  }
}
