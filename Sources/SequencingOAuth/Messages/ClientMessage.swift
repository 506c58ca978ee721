/// A message from a client to its authorization server.
protocol ClientMessage: Sendable {
  /// Returns the HTTP request that carries the message.
  func httpRequest() -> WebRequest
}
