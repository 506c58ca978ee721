import SQBasics
import SQHTTP2
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One call of a gRPC method: created and configured first, started later, ended once.
///
/// Nothing is sent before the call is started. After that it can be watched and cancelled, but no
/// longer changed. Every method may be called from any thread. A call that was started lives until
/// it ends, even if the app keeps no reference to it.
public final class RPCCall: Sendable {
  /// How many messages the client and the server send in a call.
  public enum Kind: Sendable, Hashable {
    /// The client sends one message, and the server sends one.
    case unary
    /// The client sends one message, and the server sends any number.
    case serverStreaming
    /// The client sends any number of messages, and the server sends one.
    case clientStreaming
    /// Both sides send any number of messages, in an order that the method defines.
    case bidirectional

    var sendsMany: Bool { self == .clientStreaming || self == .bidirectional }
    var receivesMany: Bool { self == .serverStreaming || self == .bidirectional }
  }

  /// The channel that names the server and the token for this call.
  public let channel: RPCChannel
  /// The path of the method: `/package.Service/Method`.
  public let method: String
  /// The fields that each call of the method begins with.
  let block: HeaderBlock
  /// How many messages the client and the server send in this call.
  public let kind: Kind
  let request: Data
  let state: Locked<State>
  /// Ends what the call waits for.
  let interruption = Interruption()
  /// The messages from the server; `nil` if it sends one.
  let inbox: MessageInbox?
  /// The messages to the server; `nil` if the call sends one.
  let outbox: MessageOutbox?
  /// The result of the call: the server's one message or, if it sends any number, empty data.
  let outcome = OneShot<Result<Data, RPCError>>()

  /// Creates a call that is not started; `request` is its one message, encoded.
  ///
  /// If the client sends any number of messages, leave `request` empty and use ``send(_:)``.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if `method` is not of the form
  ///   `/package.Service/Method`.
  public init(
    channel: RPCChannel, method: String, request: Data = Data(), kind: Kind = .unary
  ) throws(RPCError) {
    self.channel = channel
    self.method = method
    self.kind = kind
    self.request = request
    block = try channel.block(for: method)
    inbox = kind.receivesMany ? MessageInbox() : nil
    outbox = kind.sendsMany ? MessageOutbox() : nil
    state = Locked(State(timeout: channel.options.timeout(of: kind)))
  }

  /// Creates a call without an account to a server: `https://host`, or `http://127.0.0.1:50051`.
  ///
  /// The call is not started. Throws what ``RPCChannel`` and ``init(channel:method:request:kind:)``
  /// throw.
  public convenience init(
    host: URL, method: String, request: Data = Data(), kind: Kind = .unary
  ) throws(RPCError) {
    try self.init(
      channel: try RPCChannel(url: host), method: method, request: request, kind: kind)
  }
}

// MARK: - Before the start

extension RPCCall {
  /// The metadata that is sent with the call; empty at first.
  ///
  /// It can be changed in place: `call.requestMetadata["x-trace"] = "1"`. Once the call is started,
  /// a change has no effect; ``setRequestMetadata(_:)`` throws then.
  public var requestMetadata: RPCMetadata {
    get { state.withLock(\.metadata) }
    set { try? setRequestMetadata(newValue) }
  }

  /// Sets the metadata that is sent with the call, and replaces what was set before.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` once the call is started.
  public func setRequestMetadata(_ metadata: RPCMetadata) throws(RPCError) {
    try change { $0.metadata = metadata }
  }

  /// The token in the call's `authorization` metadata; `nil` if none was set for this call.
  public var oauth2AccessToken: String? { requestMetadata.oauth2AccessToken }

  /// Sets the token that the call carries instead of the channel's; `nil` removes it.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` once the call is started,
  ///   ``RPCStatus/invalidArgument`` if the text cannot be a token.
  public func setOAuth2AccessToken(_ token: String?) throws(RPCError) {
    var metadata = requestMetadata
    try metadata.setOAuth2AccessToken(token)
    try setRequestMetadata(metadata)
  }

  /// The longest time that the call may take from its start; `nil` for no limit.
  ///
  /// Unless ``setTimeout(_:)`` changes it, it is ``RPCOptions/timeout`` for a unary call and
  /// ``RPCOptions/streamTimeout`` for any other call.
  public var timeout: Duration? { state.withLock(\.timeout) }

  /// Limits the time of the call from its start; after it the call ends with
  /// ``RPCStatus/deadlineExceeded``.
  ///
  /// The server learns the limit too, from `grpc-timeout`. `nil` means no limit.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` once the call is started.
  public func setTimeout(_ timeout: Duration?) throws(RPCError) {
    try change { $0.timeout = timeout }
  }

  private func change(_ body: (inout State) -> Void) throws(RPCError) {
    let isChanged = state.withLock { state in
      guard case .prepared = state.phase else { return false }
      body(&state)
      return true
    }
    if !isChanged { throw .started }
  }
}

// MARK: - What came back

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
  /// complete when the call has ended; then ``RPCError/metadata`` contains it too.
  public var responseMetadata: RPCMetadata {
    let (head, trailers) = state.withLock { ($0.head, $0.trailers) }
    return head?.metadata(with: trailers ?? [:]) ?? RPCMetadata()
  }

  /// The status with which the call ended; `nil` until it has ended.
  public var status: RPCStatus? {
    outcome.current.map { outcome in
      switch outcome {
      case .success: .ok
      case .failure(let error): error.status
      }
    }
  }

  /// The text of the server's `www-authenticate`, which says why it refused the token.
  public var oauth2ChallengeHeader: String? { responseMetadata.oauth2ChallengeHeader }

  /// The server's reason for refusing the token: the Bearer challenge in its `www-authenticate`.
  ///
  /// It is the first challenge that names an error, or else the first one.
  public var challenge: BearerChallenge? { responseMetadata.challenge }
}
