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
  /// The time that a call has from its start, where it sets none itself; `nil` for no limit.
  public var timeout: Duration?

  /// Makes the options that a channel has where it is given no others.
  public init() {}
}
