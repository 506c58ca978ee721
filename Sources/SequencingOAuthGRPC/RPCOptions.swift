/// The compression of a message.
public enum RPCCompression: Sendable, Hashable {
  /// No compression.
  case identity
  /// Compression with gzip, for messages that it makes smaller.
  case gzip
}

/// The size limits, the compression and the timeouts for the calls of a channel.
public struct RPCOptions: Sendable, Hashable {
  /// The largest message to the server in bytes, before it is compressed; 4 MiB by default.
  public var maximumRequestBytes = 4 << 20
  /// The largest message from the server in bytes, after it is decompressed; 4 MiB by default.
  ///
  /// In the form in which it is sent, no message has 4 GiB or more (gRPC's
  /// `doc/PROTOCOL-HTTP2.md`), so a larger number adds no limit. With a negative number every
  /// message is too large.
  public var maximumResponseBytes = 4 << 20
  /// The compression of messages to the server; none by default.
  ///
  /// Whatever its value, the server may compress its own messages with gzip.
  public var compression = RPCCompression.identity
  /// The longest time that a unary call may take from its start; 60 s by default.
  ///
  /// A call can set its own. The wait for a token counts. After this time the call ends with
  /// ``RPCStatus/deadlineExceeded``. `nil` means no limit: if the server stays silent, the call
  /// lasts until it is cancelled.
  public var timeout: Duration? = .seconds(60)
  /// The longest time that a call with a stream may take from its start; `nil`, the default, means
  /// no limit.
  ///
  /// A call can set its own. A call with a stream may be long and silent, because it often waits
  /// for events. It ends when the client or the server ends it, when its task is cancelled, with
  /// ``RPCCall/cancel()``, or when the connection breaks.
  public var streamTimeout: Duration?
  /// How long a connection with calls may be silent before the server is asked whether it is there;
  /// five minutes by default.
  ///
  /// The question is an HTTP/2 ping (RFC 9113, section 6.7). If nothing comes within 20 s, the calls
  /// end with ``RPCStatus/unavailable``. The shortest time is 10 s. Many servers close a connection
  /// with more than one ping in five minutes; after that, the SDK asks half as often. `nil` means
  /// that the server is not asked.
  public var keepAlive: Duration? = .seconds(300)
  /// The shortest time between pings, which is less in tests only.
  ///
  /// - SeeAlso: gRPC's proposal A8, "Client-side keepalive"
  var shortestKeepAlive = Duration.seconds(10)

  /// Creates the default options.
  public init() {}
}

extension RPCOptions {
  /// How long a connection with calls may be silent before a ping; `nil` for no pings.
  var pingInterval: Duration? { keepAlive.map { max($0, shortestKeepAlive) } }

  /// The longest time for a call of a kind that sets no time of its own.
  func timeout(of kind: RPCCall.Kind) -> Duration? {
    kind == .unary ? timeout : streamTimeout
  }
}
