/// Limits on the resources that a server's clients may use.
package struct HTTP2ServerLimits: Sendable {
  /// The maximum number of connections that are open at the same time.
  ///
  /// If one more client connects, the server closes the connection that has had no request for the
  /// longest time. If every connection has a request under way, the new connection is closed.
  package var connections = 64
  /// The maximum number of bytes of one request's content.
  package var contentBytes = 1 << 20
  /// The maximum number of bytes of incomplete content, in all requests of one connection together.
  package var connectionBytes = 16 << 20
  /// The maximum time that a connection stays open without a request under way.
  ///
  /// A request is under way from when its header fields have arrived until its answer is sent.
  package var idleTime: Duration = .seconds(120)

  package init() {}
}
