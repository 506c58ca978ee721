/// A message from a client to its authorization server.
protocol ClientMessage: Sendable {
  /// The kind of the request, for observers.
  var purpose: ClientEvent.Request.Purpose { get }
  /// Returns the HTTP request that carries the message.
  func httpRequest() -> WebRequest
}
