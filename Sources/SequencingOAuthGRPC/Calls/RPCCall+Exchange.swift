import SQBasics
import SQFoundation
import SQHTTP2
import SequencingOAuth

/// Methods that send one attempt of a call and read the answer.
extension RPCCall {
  /// Sends the call once and returns its result; the fields replace metadata with the same names.
  func attempt(
    _ metadata: RPCMetadata, _ fields: HeaderFields = [:]
  ) async throws(RPCCallError) -> Data {
    let secrets = CallSecrets(fields, metadata)
    let stream = try stream(metadata, fields, secrets)
    let answer: RPCStream.Answer
    do throws(RPCCallError) {
      answer = try await self.answer(of: stream)
    } catch {
      // The error may contain words of the server, and these may repeat a secret of the call.
      throw error.removing(secrets)
    }
    let head = RPCResponseHead(answer.head, removing: secrets)
    state.withLock { if case .running = $0.phase { $0.trailers = answer.trailers } }
    if let failure = head.failure(answer.trailers) { throw failure }
    return kind.receivesMany ? try end(of: answer) : try message(of: answer, head)
  }

  // MARK: Sending

  private func stream(
    _ metadata: RPCMetadata, _ fields: HeaderFields, _ secrets: CallSecrets
  ) throws(RPCCallError) -> RPCStream {
    var block = called.block
    var deadline = UInt64.max
    if let end = state.withLock(\.deadline) {
      let left = ContinuousClock.now.duration(to: end)
      guard let text = TimeoutField.text(left) else { throw .timeIsUp }
      deadline = Monotonic.after(left)
      block.append("grpc-timeout", text)
    }
    metadata.write(to: &block, replacing: fields)
    return RPCStream(
      block, content: try content(), limit: channel.options.maximumResponseBytes,
      inbox: inbox, deadline: deadline, secrets: secrets
    ) { self.take(RPCResponseHead($0, removing: secrets)) }
  }

  private func content() throws(RPCCallError) -> RPCStream.Content {
    if let outbox { return .outbox(outbox) }
    let options = channel.options
    return .message(
      try MessageFrame(
        request, compression: options.compression, limit: options.maximumRequestBytes
      ).bytes)
  }

  private func answer(of stream: RPCStream) async throws(RPCCallError) -> RPCStream.Answer {
    let peer = channel.peer
    outbox?.whenFilled { [weak stream] in if let stream { peer.resume(stream) } }
    inbox?.whenRead { [weak stream] count in if let stream { peer.consume(count, of: stream) } }
    // After the answer, there is nothing to interrupt, and the closure must not keep the stream
    // alive.
    defer { interruption.whenRaised {} }
    return try await withCheckedContinuation { continuation in
      stream.continuation = continuation
      interruption.whenRaised { peer.end(stream, .cancelled) }
      peer.start(stream)
    }.get()
  }

  // MARK: Receiving

  /// Stores the headers; does nothing if the call has ended.
  private func take(_ head: RPCResponseHead) {
    state.withLock { if case .running = $0.phase { $0.head = head } }
    // If the head is the complete answer, the server reads no further messages.
    if head.isWholeAnswer { outbox?.close() }
  }

  /// Returns the only message of a successful answer.
  private func message(
    of answer: RPCStream.Answer, _ head: RPCResponseHead
  ) throws(RPCCallError) -> Data {
    guard let frame = answer.frames.first, answer.isAtEnd else {
      throw RPCCallError(
        .internal,
        answer.isAtEnd ? "the server sent no message" : "the server sent only a part of a message",
        metadata: responseMetadata)
    }
    return try frame.message(
      encoding: head.encoding, limit: channel.options.maximumResponseBytes)
  }

  /// Returns empty data, because the call's messages are in its inbox.
  private func end(of answer: RPCStream.Answer) throws(RPCCallError) -> Data {
    guard answer.isAtEnd else {
      throw RPCCallError(
        .internal, "the server ended the call inside a message", metadata: responseMetadata)
    }
    return Data()
  }
}
