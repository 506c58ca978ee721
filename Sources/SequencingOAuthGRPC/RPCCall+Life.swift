import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension RPCCall {
  struct State {
    enum Phase {
      case prepared
      case running
      case ended
    }

    var phase = Phase.prepared
    var metadata = RPCMetadata()
    var timeout: Duration?
    var deadline: ContinuousClock.Instant?
    var headers: RPCMetadata?
    /// The `grpc-encoding` of the response.
    var encoding: String?
    var trailers: RPCMetadata?
    var completion: Completion<Result<Data, RPCError>>?

    init(timeout: Duration?) {
      self.timeout = timeout
    }
  }

  // MARK: Starting

  /// Starts the call; ``response()`` or ``messages`` have what comes of it.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` where it was started before, and
  ///   ``RPCStatus/cancelled`` where it was cancelled.
  public func start() throws(RPCError) {
    try begin(nil)
  }

  /// Starts the call and gives the completion what comes of it, once: on its actor, or on the
  /// channel's ``RPCChannel/callbackQueue``.
  ///
  /// Throws what ``start()`` throws, and then calls nothing. Where the server sends any number of
  /// messages the result has none of them; give a closure for those too.
  public func start(
    _ completion: @escaping @isolated(any) (Result<Data, RPCError>) -> Void
  ) throws(RPCError) {
    try begin(Completion(completion))
  }

  /// Starts a call whose server sends any number of messages, and tells each of them in order, and
  /// the end, once.
  ///
  /// The next message is read when the closure has returned from this one. Throws what ``start()``
  /// throws, and then calls nothing.
  public func start(
    onMessage: @escaping @isolated(any) (Data) -> Void,
    completion: @escaping @isolated(any) (Result<Void, RPCError>) -> Void
  ) throws(RPCError) {
    try begin(nil)
    let (onMessage, completion) = (Completion(onMessage), Completion(completion))
    Task {
      let end: Result<Void, RPCError>
      do throws(RPCError) {
        while let message = try await nextMessage() {
          // Not after the end of a call that was cancelled meanwhile.
          await channel.callbacks.call(onMessage, with: message) { self.status != .cancelled }
        }
        end = .success(())
      } catch {
        end = .failure(error)
      }
      await channel.callbacks.call(completion, with: end)
    }
  }

  /// What is begun `here`, for a task that waits for it anyway, runs on its thread up to where it
  /// first waits.
  private func begin(
    _ completion: Completion<Result<Data, RPCError>>?, here: Bool = false
  ) throws(RPCError) {
    try checkKind()
    let phase = state.withLock { state in
      let phase = state.phase
      guard case .prepared = phase else { return phase }
      state.phase = .running
      state.completion = completion
      state.deadline = state.timeout.map { .now + $0.bounded }
      return phase
    }
    switch phase {
    case .prepared: break
    case .running: throw .started
    case .ended: throw outcome.isCancelled ? .cancelled : .started
    }
    let task = here ? Task.startingHere { await self.run() } : Task { await self.run() }
    interruption.whenRaised(task.cancel)
  }

  /// Refuses a kind of call of which the transport may lose messages.
  private func checkKind() throws(RPCError) {
    guard kind.sendsMany, channel.client.mayLoseEndOfResponse else { return }
    throw RPCError(
      .unimplemented,
      "a call that sends any number of messages needs libcurl 8.14 or newer: an older one loses what "
        + "a server says that ends the call early; nothing was sent")
  }

  // MARK: Ending

  /// Ends the call with ``RPCStatus/cancelled``, unless it has ended; before the start, for good.
  public func cancel() {
    end(.failure(.cancelled))
  }

  /// Ends the call, once; who comes later changes nothing.
  @discardableResult
  func end(_ result: Result<Data, RPCError>) -> Bool {
    let (isEnd, completion) = state.withLock { state in
      if case .ended = state.phase {
        return (false, Completion<Result<Data, RPCError>>?.none)
      }
      state.phase = .ended
      return (true, state.completion.take())
    }
    guard isEnd else { return false }
    outcome.resolve(result)
    inbox.finish(result.map { _ in })
    outbox.close()
    interruption.raise()
    if let completion {
      Task { await channel.callbacks.call(completion, with: result) }
    }
    return true
  }

  // MARK: One message from the server

  /// The server's one message; starts the call where nobody has.
  ///
  /// Any number of tasks may wait for it. Cancelling one of them cancels the call.
  ///
  /// - Throws: ``RPCError``: how the call ended, if not with ``RPCStatus/ok``.
  public func response() async throws(RPCError) -> Data {
    guard !kind.receivesMany else {
      throw RPCError(.failedPrecondition, "the server sends any number of messages: read messages")
    }
    try startIfPrepared()
    if let outcome = await outcome.value() { return try outcome.get() }
    cancel()
    return try await outcome.wait().get()
  }

  /// The server's one message, decoded.
  ///
  /// Throws what ``response()`` throws, and ``RPCStatus/internal`` where it cannot be decoded.
  public func response<Codec: MessageCodec>(
    as codec: Codec
  ) async throws(RPCError) -> Codec.Message {
    try codec.message(of: try await response())
  }

  func startIfPrepared() throws(RPCError) {
    do throws(RPCError) {
      try begin(nil, here: true)
    } catch {
      // Started by somebody else, or ended, which is what the caller is to hear.
      if error.status == .unimplemented { throw error }
    }
  }
}

extension OneShot where Value == Result<Data, RPCError> {
  /// Whether the call was cancelled from this side.
  var isCancelled: Bool {
    if case .failure(let error)? = current { error.status == .cancelled } else { false }
  }
}
