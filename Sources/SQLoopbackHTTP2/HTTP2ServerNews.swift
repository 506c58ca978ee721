import SQBasics

/// The events on a connection that are reported after the server's lock is released.
struct HTTP2ServerNews {
  var arrived: [HTTP2Exchange] = []
  var contents: [(HTTP2Exchange, HTTP2Exchange.Content)] = []
  var drained: [(OneShot<Bool>, Bool)] = []
  var closed: [HTTP2Exchange] = []

  /// Reports the events; for each exchange, in the order in which they happened.
  func spread(_ handler: HTTP2Server.Handler) {
    for exchange in arrived { handler(exchange) }
    for (exchange, content) in contents { exchange.content.resolve(content) }
    for (waiter, isDrained) in drained { waiter.resolve(isDrained) }
    for exchange in closed { exchange.whenClosed.raise() }
  }
}
