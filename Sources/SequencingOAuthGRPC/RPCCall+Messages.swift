import SQBasics
public import SQFoundation
import SequencingOAuth

extension RPCCall {
  // MARK: Receiving any number of messages

  /// The server's messages, in order; reading them starts the call if it was not started yet.
  ///
  /// While the app reads no messages, the server must wait before it can send more. The sequence
  /// throws if the call ends with a status other than ``RPCStatus/ok``, and throws
  /// ``RPCStatus/failedPrecondition`` if the call's kind lets the server send only one message. To
  /// stop early, leave the loop: an iterator that is released before the end cancels the call.
  public var messages: RPCMessages<BytesCodec> { RPCMessages(call: self, codec: BytesCodec()) }

  /// Returns the server's messages, decoded with a codec, in order.
  ///
  /// Reading them starts the call if it was not started yet, and the sequence behaves like
  /// ``messages``. A message that cannot be decoded ends the call with ``RPCStatus/internal``.
  public func messages<Codec: MessageCodec>(as codec: Codec) -> RPCMessages<Codec> {
    RPCMessages(call: self, codec: codec)
  }

  /// Waits for the next message; returns `nil` at the end.
  func nextMessage() async throws(RPCCallError) -> Data? {
    guard let inbox else { throw .oneMessage }
    startIfPrepared()
    guard let next = await inbox.next() else {
      cancel()
      throw .cancelled
    }
    guard let frame = try next.get() else { return nil }
    do throws(RPCCallError) {
      return try frame.message(
        encoding: state.withLock(\.head)?.encoding, limit: channel.options.maximumResponseBytes)
    } catch {
      end(.failure(error))
      throw error
    }
  }

  // MARK: Sending any number of messages

  /// Sends a message to the server and returns when the transport has taken it.
  ///
  /// The call's kind must let the client send any number of messages. The method starts the call
  /// if it was not started yet. Messages from several tasks are sent in the order of the calls to
  /// this method. If the task is cancelled before the transport takes any of the message, the
  /// message is not sent, and the call continues. If the transport has taken a part of a message,
  /// for example because the server reads slowly, the cancellation ends the call.
  ///
  /// - Throws: The call's error if the call has failed; ``RPCStatus/failedPrecondition`` after
  ///   ``finishSending()`` or a successful end, or if the call sends only one message;
  ///   ``RPCStatus/cancelled`` if the task is cancelled; ``RPCStatus/resourceExhausted`` if the
  ///   message is too large.
  public func send(_ message: Data) async throws(RPCCallError) {
    guard let outbox else {
      throw RPCCallError(
        .failedPrecondition,
        "the call sends only one message, its request; to send more, create a call of another kind")
    }
    let frame = try MessageFrame(
      message, compression: channel.options.compression, limit: channel.options.maximumRequestBytes)
    startIfPrepared()
    switch await outbox.send(frame.bytes, orEnd: cancel) {
    case .taken: return
    case .withdrawn: throw .sendCancelled
    case .finished:
      if case .failure(let error)? = outcome.current { throw error }
      throw RPCCallError(
        .failedPrecondition, "the message was not sent: finishSending was called before")
    case .closed:
      // The server's answer closes the outbox a moment before it ends the call.
      switch await outcome.value() {
      case .failure(let error)?: throw error
      case .success?:
        throw RPCCallError(
          .failedPrecondition, "the message was not sent: the call has ended successfully")
      case nil: throw .sendCancelled
      }
    }
  }

  /// Encodes a message and sends it; returns when the transport has taken it.
  ///
  /// Throws the errors of ``send(_:)``, and ``RPCStatus/internal`` if the message cannot be
  /// encoded.
  public func send<Codec: MessageCodec>(
    _ message: Codec.Message, as codec: Codec
  ) async throws(RPCCallError) {
    try await send(try codec.bytes(of: message))
  }

  /// Tells the server that no more messages follow; starts the call if it was not started yet.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` if the call sends only one message.
  public func finishSending() throws(RPCCallError) {
    guard let outbox else {
      throw RPCCallError(
        .failedPrecondition,
        "the call sends only one message, its request, so it needs no finishSending")
    }
    startIfPrepared()
    outbox.finish()
  }
}

extension RPCCallError {
  static let oneMessage = RPCCallError(
    .failedPrecondition,
    "the server sends one message: read the call's response, not its messages")
  fileprivate static let sendCancelled = RPCCallError(
    .cancelled, "the task that called send was cancelled, so the message was not sent")
}

/// A sequence of the messages that the server sends in one call, decoded.
public struct RPCMessages<Codec: MessageCodec>: AsyncSequence, Sendable {
  /// The type of a decoded message.
  public typealias Element = Codec.Message
  /// The error of a failed call.
  public typealias Failure = RPCCallError

  let call: RPCCall
  let codec: Codec

  /// Creates an iterator over the messages that have not been read yet.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reader: Reader(call: call), codec: codec)
  }

  /// An iterator that reads a call's messages one by one.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader
    fileprivate let codec: Codec

    /// Waits for the next message on the given actor; returns `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCCallError) -> Codec.Message? {
      guard let bytes = try await reader.call.nextMessage() else { return nil }
      do throws(RPCCallError) {
        return try codec.message(of: bytes)
      } catch {
        reader.call.end(.failure(error))
        throw error
      }
    }

    /// Waits for the next message; returns `nil` at the end.
    public mutating func next() async throws(RPCCallError) -> Codec.Message? {
      try await next(isolation: #isolation)
    }
  }

  /// The shared part of an iterator's copies; cancels the call when the last copy is released.
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
