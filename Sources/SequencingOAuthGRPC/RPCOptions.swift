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
  public var maximumResponseBytes = 4 << 20
  /// How messages to the server are compressed; what comes may be compressed by gzip in any case.
  public var compression = RPCCompression.identity
  /// The time that a call has from its start, where it sets none itself; `nil` for no limit.
  public var timeout: Duration?

  /// Makes the options that a channel has where it is given no others.
  public init() {}
}
