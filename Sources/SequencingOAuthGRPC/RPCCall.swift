import SQBasics
public import SQFoundation
import SQHTTP2
public import SequencingOAuth

/// One call of a gRPC method; you create and configure it first and start it later.
///
/// Nothing is sent before the call is started. After that you can watch and cancel the call, but no
/// longer change it. You can call every method from any thread. A started call continues until it
/// ends, even if the app keeps no reference to it.
public final class RPCCall: Sendable {
  /// The number of messages that the client and the server send in a call.
  public enum Kind: Sendable, Hashable {
    /// The client sends one message, and the server sends one message.
    case unary
    /// The client sends one message, and the server sends any number of messages.
    case serverStreaming
    /// The client sends any number of messages, and the server sends one message.
    case clientStreaming
    /// The client and the server send any number of messages; the method defines the order.
    case bidirectional

    var sendsMany: Bool { self == .clientStreaming || self == .bidirectional }
    var receivesMany: Bool { self == .serverStreaming || self == .bidirectional }
  }

  /// The channel with the server and the credential for this call.
  public let channel: RPCChannel
  /// The path of the method: `/package.Service/Method`.
  public var method: String { called.name }
  let called: RPCChannel.CalledMethod
  /// The number of messages that the client and the server send in this call.
  public let kind: Kind
  let request: Data
  let state: Locked<State>
  /// The interruption that ends the call's wait for a token, a connection or the server.
  let interruption = Interruption()
  /// The buffer of the server's messages; `nil` if the server sends only one message.
  let inbox: MessageInbox?
  /// The buffer of the client's messages; `nil` if the client sends only one message.
  let outbox: MessageOutbox?
  /// The result of the call: the server's only message, or empty data if it sends any number.
  let outcome = OneShot<Result<Data, RPCCallError>>()

  /// Creates a call without starting it; `request` is the client's only message, encoded.
  ///
  /// If the client sends any number of messages, leave `request` empty and use ``send(_:)``.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if `method` is not of the form
  ///   `/package.Service/Method`.
  public init(
    channel: RPCChannel, method: String, request: Data = Data(), kind: Kind = .unary
  ) throws(RPCCallError) {
    self.channel = channel
    called = try channel.called(method)
    self.kind = kind
    self.request = request
    inbox = kind.receivesMany ? MessageInbox() : nil
    outbox = kind.sendsMany ? MessageOutbox() : nil
    state = Locked(State(timeout: channel.options.timeout(of: kind)))
  }

  /// Creates a call to a server, without a token and without starting the call.
  ///
  /// `host` is the server's URL, such as `https://host` or `http://127.0.0.1:50051`. Throws the
  /// errors of ``RPCChannel``'s initializer and of ``init(channel:method:request:kind:)``.
  public convenience init(
    host: URL, method: String, request: Data = Data(), kind: Kind = .unary
  ) throws(RPCCallError) {
    try self.init(
      channel: try RPCChannel(url: host), method: method, request: request, kind: kind)
  }
}

// MARK: - Before the start

extension RPCCall {
  /// The metadata that is sent with the call; empty at first.
  ///
  /// You can change it in place: `call.requestMetadata["x-trace"] = "1"`. After the call is
  /// started, a change has no effect; ``setRequestMetadata(_:)`` throws an error instead.
  public var requestMetadata: RPCMetadata {
    get { state.withLock(\.metadata) }
    set { try? setRequestMetadata(newValue) }
  }

  /// Sets the metadata that is sent with the call, replacing the earlier metadata.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` after the call is started.
  public func setRequestMetadata(_ metadata: RPCMetadata) throws(RPCCallError) {
    try change { $0.metadata = metadata }
  }

  /// The token in the call's `authorization` metadata; `nil` if none was set for this call.
  public var oauth2AccessToken: String? { requestMetadata.oauth2AccessToken }

  /// Sets a token for this call instead of the channel's token; `nil` removes it.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` after the call is started;
  ///   ``RPCStatus/invalidArgument`` if the text cannot be a token.
  public func setOAuth2AccessToken(_ token: String?) throws(RPCCallError) {
    var metadata = requestMetadata
    try metadata.setOAuth2AccessToken(token)
    try setRequestMetadata(metadata)
  }

  /// The longest time that the call may take from its start; `nil` for no limit.
  ///
  /// Unless ``setTimeout(_:)`` changes it, it is ``RPCOptions/timeout`` for a unary call and
  /// ``RPCOptions/streamTimeout`` for any other call.
  public var timeout: Duration? { state.withLock(\.timeout) }

  /// Sets the longest time that the call may take from its start; `nil` for no limit.
  ///
  /// After this time, the call ends with ``RPCStatus/deadlineExceeded``. The server also gets the
  /// limit, in the header field `grpc-timeout`.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` after the call is started.
  public func setTimeout(_ timeout: Duration?) throws(RPCCallError) {
    try change { $0.timeout = timeout }
  }

  private func change(_ body: (inout State) -> Void) throws(RPCCallError) {
    let isChanged = state.withLock { state in
      guard case .prepared = state.phase else { return false }
      body(&state)
      return true
    }
    if !isChanged { throw .started }
  }
}

// MARK: - The result

extension RPCCall {
  /// The metadata that the server sent before its messages; `nil` until it has arrived.
  public var responseHeaders: RPCMetadata? { state.withLock(\.head)?.metadata }

  /// The metadata that the server sent after its messages; `nil` until it has arrived.
  public var responseTrailers: RPCMetadata? {
    let (head, trailers) = state.withLock { ($0.head, $0.trailers) }
    return trailers.flatMap { head?.trailers($0) }
  }

  /// The server's headers and trailers together, with their names in lower case.
  ///
  /// If a name is in both, only the trailers' values count. The metadata is empty at first and
  /// complete when the call has ended. If the server's answer makes the call fail,
  /// ``RPCCallError/metadata`` contains it too.
  public var responseMetadata: RPCMetadata {
    let (head, trailers) = state.withLock { ($0.head, $0.trailers) }
    return head?.metadata(with: trailers ?? [:]) ?? RPCMetadata()
  }

  /// The call's final status; `nil` until the call has ended.
  public var status: RPCStatus? {
    outcome.current.map { outcome in
      switch outcome {
      case .success: .ok
      case .failure(let error): error.status
      }
    }
  }

  /// The value of the server's `www-authenticate`: why the server rejected the token.
  public var oauth2ChallengeHeader: String? { responseMetadata.oauth2ChallengeHeader }

  /// The server's reason for rejecting the token: a Bearer or DPoP challenge in its
  /// `www-authenticate`.
  ///
  /// If there are several challenges, this is the first challenge with an error code, or the first
  /// challenge if none has an error code.
  public var challenge: TokenChallenge? { responseMetadata.challenge }
}
