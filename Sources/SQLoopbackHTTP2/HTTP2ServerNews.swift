import SQBasics

/// What one step on a connection brought about, for others to learn outside the server's lock.
struct HTTP2ServerNews {
  var arrived: [HTTP2Exchange] = []
  var contents: [(HTTP2Exchange, HTTP2Exchange.Content)] = []
  var drained: [(OneShot<Bool>, Bool)] = []
  var closed: [HTTP2Exchange] = []

  /// Tells everybody, in the order in which it happened to one exchange.
  func spread(_ handler: HTTP2Server.Handler) {
    for exchange in arrived { handler(exchange) }
    for (exchange, content) in contents { exchange.content.resolve(content) }
    for (waiter, isDrained) in drained { waiter.resolve(isDrained) }
    for exchange in closed { exchange.whenClosed.raise() }
  }
}
