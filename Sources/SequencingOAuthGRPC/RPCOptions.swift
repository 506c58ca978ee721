/// How a message is compressed.
public enum RPCCompression: Sendable, Hashable {
  /// Not at all.
  case identity
  /// By gzip, where that makes it smaller.
  case gzip
}

/// What holds for the calls of a channel.
public struct RPCOptions: Sendable, Hashable {
  /// How many bytes a message to the server may have, before it is compressed.
  public var maximumRequestBytes = 4 << 20
  /// How many bytes a message from the server may have, after it is decompressed.
  ///
  /// No message has more than 4 GiB as it travels (gRPC's `doc/PROTOCOL-HTTP2.md`), so a larger
  /// number is no limit but that; a negative one allows nothing.
  public var maximumResponseBytes = 4 << 20
  /// How messages to the server are compressed; what comes may be compressed by gzip in any case.
  public var compression = RPCCompression.identity
  /// The time that a unary call has from its start, unless it sets one itself; 60 s unless set.
  ///
  /// The wait for a token is part of it. When it is over the call ends with
  /// ``RPCStatus/deadlineExceeded``; `nil` means no limit, and then a silent server is waited for
  /// until the call is cancelled.
  public var timeout: Duration? = .seconds(60)
  /// The time that a call with a stream has from its start, unless it sets one itself; `nil`, which
  /// is the default, for no limit.
  ///
  /// Such a call may be long, and silent, because its purpose is to wait for what happens. It ends
  /// when one of the two sides ends it, when its task or ``RPCCall/cancel()`` does, or when the
  /// connection breaks.
  public var streamTimeout: Duration?

  /// Makes the options that a channel has where it is given no others.
  public init() {}
}

extension RPCOptions {
  /// The time that a call of a kind has where it sets none itself.
  func timeout(of kind: RPCCall.Kind) -> Duration? {
    kind == .unary ? timeout : streamTimeout
  }
}
