import SQBasics
public import SQFoundation
import SequencingOAuth

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
    /// The head of the answer; its metadata is decoded only when the app asks for it.
    var head: RPCResponseHead?
    var trailers: HeaderFields?
    var completion: Completion<Result<Data, RPCCallError>>?

    init(timeout: Duration?) {
      self.timeout = timeout
    }
  }

  // MARK: Starting

  /// Starts the call; read its result with ``response()`` or ``messages``.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` if the call was already started;
  ///   ``RPCStatus/cancelled`` if it was cancelled.
  public func start() throws(RPCCallError) {
    try begin(nil)
  }

  /// Starts the call and calls the completion once, when the call has ended.
  ///
  /// If the completion is isolated to an actor, it runs on that actor, otherwise on the channel's
  /// ``RPCChannel/callbackQueue``. A successful result is the server's only message. For a call of
  /// the kind ``Kind/serverStreaming`` or ``Kind/bidirectional``, it is empty data: use
  /// ``start(onMessage:completion:)`` to get the messages. This method throws the errors of
  /// ``start()``; in this case, the completion is not called.
  public func start(
    _ completion: @escaping @isolated(any) (Result<Data, RPCCallError>) -> Void
  ) throws(RPCCallError) {
    try begin(Completion(completion))
  }

  /// Starts the call; calls `onMessage` with each message in order, and then the completion once.
  ///
  /// Use this method for a call of the kind ``Kind/serverStreaming`` or ``Kind/bidirectional``. The
  /// next message is read after `onMessage` returns. This method throws the errors of ``start()``,
  /// and ``RPCStatus/failedPrecondition`` for a call of another kind, which it does not start. If it
  /// throws, neither closure is called.
  public func start(
    onMessage: @escaping @isolated(any) (Data) -> Void,
    completion: @escaping @isolated(any) (Result<Void, RPCCallError>) -> Void
  ) throws(RPCCallError) {
    guard kind.receivesMany else { throw .oneMessage }
    try begin(nil)
    let (onMessage, completion) = (Completion(onMessage), Completion(completion))
    Task {
      let end = await Result.of { () throws(RPCCallError) in
        while let message = try await nextMessage() {
          // The app gets no message after the call was cancelled.
          await channel.callbacks.call(onMessage, with: message) { self.status != .cancelled }
        }
      }
      await channel.callbacks.call(completion, with: end)
    }
  }

  /// Starts the call in a new task.
  private func begin(
    _ completion: Completion<Result<Data, RPCCallError>>?
  ) throws(RPCCallError) {
    try claim(completion)
    Task { await self.run() }
  }

  /// Marks the call as running, so that the caller can run it.
  ///
  /// It throws if the call was already started or cancelled.
  private func claim(_ completion: Completion<Result<Data, RPCCallError>>?) throws(RPCCallError) {
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
  }

  // MARK: Ending

  /// Ends the call with ``RPCStatus/cancelled``; does nothing if the call has ended.
  ///
  /// If a call is cancelled before its start, it cannot be started any more.
  public func cancel() {
    end(.failure(.cancelled))
  }

  /// Ends the call with a result; returns `false` and does nothing if the call has ended.
  @discardableResult
  func end(_ result: Result<Data, RPCCallError>) -> Bool {
    let (isEnd, completion) = state.withLock { state in
      if case .ended = state.phase {
        return (false, Completion<Result<Data, RPCCallError>>?.none)
      }
      state.phase = .ended
      return (true, state.completion.take())
    }
    guard isEnd else { return false }
    outcome.resolve(result)
    inbox?.finish(result.map { _ in })
    outbox?.close()
    interruption.raise()
    if let completion {
      Task { await channel.callbacks.call(completion, with: result) }
    }
    return true
  }

  // MARK: Receiving one message

  /// Waits for the server's only message; starts the call if it was not started yet.
  ///
  /// Any number of tasks may wait. Cancelling one of them cancels the call.
  ///
  /// - Throws: ``RPCCallError`` if the call ends with a status other than ``RPCStatus/ok``.
  public func response() async throws(RPCCallError) -> Data {
    guard !kind.receivesMany else {
      throw RPCCallError(
        .failedPrecondition,
        "the server sends any number of messages: read the call's messages, not its response")
    }
    if (try? claim(nil)) != nil {
      // The call runs in the caller's task, because that avoids a change of threads.
      await withTaskCancellationHandler {
        await run()
      } onCancel: {
        cancel()
      }
    }
    if let outcome = await outcome.value() { return try outcome.get() }
    cancel()
    return try await outcome.wait().get()
  }

  /// Waits for the server's only message and decodes it; starts the call if it was not started yet.
  ///
  /// Throws the errors of ``response()``, and ``RPCStatus/internal`` if the message cannot be
  /// decoded.
  public func response<Codec: MessageCodec>(
    as codec: Codec
  ) async throws(RPCCallError) -> Codec.Message {
    try codec.message(of: try await response())
  }

  /// Starts the call, unless it was already started or has ended.
  func startIfPrepared() {
    try? begin(nil)
  }
}

extension OneShot where Value == Result<Data, RPCCallError> {
  /// Whether the call ended with the status `CANCELLED`.
  var isCancelled: Bool {
    if case .failure(let error)? = current { error.status == .cancelled } else { false }
  }
}
