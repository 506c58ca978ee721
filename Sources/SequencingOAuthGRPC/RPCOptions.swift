import SequencingOAuth

/// The compression of a message.
public enum RPCCompression: Sendable, Hashable {
  /// No compression: messages are sent unchanged.
  case identity
  /// Compression with gzip; messages that would not become smaller are sent uncompressed.
  case gzip
}

/// The size limits, the compression and the timeouts for the calls of a channel.
public struct RPCOptions: Sendable, Hashable {
  /// The largest message to the server in bytes, before it is compressed; 4 MiB by default.
  public var maximumRequestBytes = 4 << 20
  /// The largest message from the server in bytes, after it is decompressed; 4 MiB by default.
  ///
  /// On the wire, a message is always smaller than 4 GiB (gRPC's `doc/PROTOCOL-HTTP2.md`). A larger
  /// number therefore limits only decompressed messages. With a negative number, every message is
  /// too large.
  public var maximumResponseBytes = 4 << 20
  /// The compression of messages to the server; none by default.
  ///
  /// With either value, the server may compress its own messages with gzip.
  public var compression = RPCCompression.identity
  /// The longest time that a unary call may take from its start; 60 s by default.
  ///
  /// A call can set its own limit. The time includes the wait for a token and for the app's
  /// authenticator. After this time, the call ends with ``RPCStatus/deadlineExceeded``. `nil` means
  /// no limit: if the server stays silent, the call lasts until it is cancelled.
  public var timeout: Duration? = .seconds(60)
  /// The longest time that a streaming call may take from its start; `nil`, the default, means no
  /// limit.
  ///
  /// A call can set its own limit. A streaming call is any call that is not unary. It may be long
  /// and silent, because it often waits for events. It ends when the client or the server ends it,
  /// when its task or the call is cancelled, or when the connection breaks.
  public var streamTimeout: Duration?
  /// The longest silence on a connection with calls before the SDK sends a ping; five minutes by
  /// default.
  ///
  /// The ping is an HTTP/2 PING frame (RFC 9113, section 6.7). If nothing arrives within 20 s after
  /// it, the calls end with ``RPCStatus/unavailable``. The shortest time is 10 s. Many servers
  /// close a connection with more than one ping in five minutes; after that, the SDK pings half as
  /// often. `nil` means no pings.
  public var keepAlive: Duration? = .seconds(300)
  /// The shortest time between pings; only tests set a shorter time.
  ///
  /// - SeeAlso: gRPC's proposal A8, "Client-side keepalive"
  var shortestKeepAlive = Duration.seconds(10)

  /// Creates the default options.
  public init() {}
}

extension RPCOptions {
  /// ``keepAlive``, but at least ``shortestKeepAlive``; `nil` for no pings.
  var pingInterval: Duration? { keepAlive.map { max($0, shortestKeepAlive) } }

  /// Returns the default timeout of a call of this kind.
  func timeout(of kind: RPCCall.Kind) -> Duration? {
    kind == .unary ? timeout : streamTimeout
  }
}
