/// A message from a client to its authorization server.
package protocol ClientMessage: Sendable {
  /// The kind of the request, for observers.
  var purpose: ClientEvent.Request.Purpose { get }
  /// The client that sends the message, with the proof of its identity.
  var client: ClientCredentials { get }
  /// Whether the message contains a grant that the client has signed for it.
  var hasSignedGrant: Bool { get }
  /// Returns the HTTP request that carries the message.
  func httpRequest() -> WebRequest
}

extension ClientMessage {
  /// `false`: only a token request contains such a grant.
  package var hasSignedGrant: Bool { false }
}
