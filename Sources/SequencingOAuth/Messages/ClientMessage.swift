/// A message from a client to its authorization server.
protocol ClientMessage: Sendable {
  /// What the message is for.
  var purpose: ClientEvent.Request.Purpose { get }
  /// Returns the HTTP request that carries the message.
  func httpRequest() -> WebRequest
}
