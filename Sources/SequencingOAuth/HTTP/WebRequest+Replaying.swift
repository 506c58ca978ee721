// Whether a request can be sent again, or at all.
extension WebRequest {
  /// Whether the request can be sent more than once, because its whole body can be read again.
  public var isReplayable: Bool { oneTimeStreams.isEmpty }

  /// Whether the request can no longer be sent, because a one-time part of its body was read.
  public var isConsumed: Bool { oneTimeStreams.contains(where: \.wasBegun) }

  /// Throws if a part of the body that can be read only once was already read.
  package func checkNotConsumed() throws(SQOAuthError) {
    if !oneTimeStreams.isEmpty { try Self.check(oneTimeStreams) }
  }

  package static func check(_ streams: [OneTimeStream]) throws(SQOAuthError) {
    if let begun = streams.first(where: \.wasBegun) { throw begun.notReplayable }
  }
}
