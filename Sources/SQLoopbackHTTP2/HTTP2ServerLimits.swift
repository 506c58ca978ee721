/// Limits on the resources that a server's clients may use.
package struct HTTP2ServerLimits: Sendable {
  /// The most connections open at the same time.
  ///
  /// A further connection closes the connection that has been without a request longest. If every
  /// connection has a request under way, the new connection is closed.
  package var connections = 64
  /// The most bytes of the content of one request.
  package var contentBytes = 1 << 20
  /// The most bytes of incomplete content, of all requests of one connection together.
  package var connectionBytes = 16 << 20
  /// The longest time that a connection may have no request under way.
  ///
  /// A request is under way from when its header fields have arrived until its answer is sent.
  package var idleTime: Duration = .seconds(120)

  package init() {}
}
