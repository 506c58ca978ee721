import Basics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One call of a method: made and configured now, started later, ended once.
///
/// Nothing is sent before it is started. From then on it can be watched and cancelled, and no
/// longer changed. Every method may be called from any thread. A call that was started lives until
/// it ends, whether or not somebody holds it.
public final class RPCCall: Sendable {
  /// How many messages each side sends.
  ///
  /// Those that send any number of messages need libcurl 8.14 (Debian 13, or Debian 12's backports):
  /// with an older one such a call fails with ``RPCStatus/unimplemented``, and nothing is sent.
  public enum Kind: Sendable, Hashable {
    /// One and one.
    case unary
    /// One, and any number from the server.
    case serverStreaming
    /// Any number, and one from the server.
    case clientStreaming
    /// Any number and any number, in whatever order the method has.
    case bidirectional

    var sendsMany: Bool { self == .clientStreaming || self == .bidirectional }
    var receivesMany: Bool { self == .serverStreaming || self == .bidirectional }
  }

  /// The server, and whose token the call carries.
  public let channel: RPCChannel
  /// The method: `/package.Service/Method`.
  public let method: String
  /// How many messages each side sends.
  public let kind: Kind
  let url: URL
  let request: Data
  let state: Locked<State>
  /// Ends what it does once it is started.
  let interruption = Interruption()
  /// The messages from the server, where they are any number.
  let inbox = MessageInbox()
  /// The messages to the server, where they are any number.
  let outbox = MessageOutbox()
  /// The one message from the server, and how the call ended.
  let outcome = OneShot<Result<Data, RPCError>>()

  /// Makes a call with its one message, encoded; a method that takes many gets them by ``send(_:)``.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` for what is not the name of a method.
  public init(
    channel: RPCChannel, method: String, request: Data = Data(), kind: Kind = .unary
  ) throws(RPCError) {
    self.channel = channel
    self.method = method
    self.kind = kind
    self.request = request
    url = try channel.url(of: method)
    state = Locked(State(timeout: channel.options.timeout(of: kind)))
  }

  /// Makes a call to a server without an account: `https://host`, or `http://127.0.0.1:50051`.
  ///
  /// Throws what ``RPCChannel`` and ``init(channel:method:request:kind:)`` throw.
  public convenience init(
    host: URL, method: String, request: Data = Data(), kind: Kind = .unary
  ) throws(RPCError) {
    try self.init(
      channel: try RPCChannel(url: host), method: method, request: request, kind: kind)
  }
}

// MARK: - Before the start

extension RPCCall {
  /// What is sent with the call; empty at first.
  ///
  /// It is a copy: to change it, give it to ``setRequestMetadata(_:)``.
  public var requestMetadata: RPCMetadata { state.withLock(\.metadata) }

  /// Sends this with the call, in the place of what was set before.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` once the call is started.
  public func setRequestMetadata(_ metadata: RPCMetadata) throws(RPCError) {
    try change { $0.metadata = metadata }
  }

  /// The token that `authorization` carries, where one was set here.
  public var oauth2AccessToken: String? { requestMetadata.oauth2AccessToken }

  /// Has the call carry this token, and not the channel's; `nil` removes it.
  ///
  /// - Throws: ``RPCStatus/failedPrecondition`` once the call is started, and
  ///   ``RPCStatus/invalidArgument`` for what is no token.
  public func setOAuth2AccessToken(_ token: String?) throws(RPCError) {
    var metadata = requestMetadata
    try metadata.setOAuth2AccessToken(token)
    try setRequestMetadata(metadata)
  }

  /// The time that the call has from its start; `nil` for no limit.
  ///
  /// It is ``RPCOptions/timeout`` for a unary call and ``RPCOptions/streamTimeout`` for any other one,
  /// unless ``setTimeout(_:)`` changed it.
  public var timeout: Duration? { state.withLock(\.timeout) }

  /// Gives the call this time from its start: then it ends with ``RPCStatus/deadlineExceeded``.
  ///
  /// The server is told. - Throws: ``RPCStatus/failedPrecondition`` once the call is started.
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
  /// What the server sent before its messages; `nil` before that.
  ///
  /// A call with one message from the server has it when it ends.
  public var responseHeaders: RPCMetadata? { state.withLock(\.headers) }

  /// What the server sent behind its messages; `nil` before that.
  public var responseTrailers: RPCMetadata? { state.withLock(\.trailers) }

  /// Headers and trailers, names in lower case; of a name that is in both, what the trailers have.
  ///
  /// Empty at first, complete when the call has ended; then it is the error's
  /// ``RPCError/metadata`` too.
  public var responseMetadata: RPCMetadata {
    state.withLock { state in
      (state.headers ?? RPCMetadata()).merged(with: state.trailers ?? RPCMetadata())
    }
  }

  /// How the call ended, once it has.
  public var status: RPCStatus? {
    outcome.current.map { outcome in
      switch outcome {
      case .success: .ok
      case .failure(let error): error.status
      }
    }
  }

  /// Why the server refused the token, as it came: its `www-authenticate`.
  public var oauth2ChallengeHeader: String? { responseMetadata.oauth2ChallengeHeader }

  /// The same, read.
  public var challenge: BearerChallenge? { responseMetadata.challenge }
}
