/// Limits on what the clients of a server may use.
package struct HTTP2ServerLimits: Sendable {
  /// The most connections open at once.
  ///
  /// One connection more closes the one that has been without a request for longest. If every
  /// connection has a request under way, the new connection is closed.
  package var connections = 64
  /// The most bytes of the content of one request.
  package var contentBytes = 1 << 20
  /// The most bytes of contents that one connection may have on the way, in all its requests.
  package var connectionBytes = 16 << 20
  /// How long a connection may have no request under way.
  ///
  /// A request is under way when its fields have come, and until its answer is sent.
  package var idleTime: Duration = .seconds(120)

  package init() {}
}
