/// A method of a service, with the types of its messages.
public struct RPCMethod<Request: Sendable, Response: Sendable>: Sendable {
  /// The method as it is called: `/package.Service/Method`.
  public let path: String
  /// How requests become bytes.
  public let request: any MessageCodec<Request>
  /// How bytes become responses.
  public let response: any MessageCodec<Response>

  /// Describes a method.
  public init(
    _ path: String, request: any MessageCodec<Request>, response: any MessageCodec<Response>
  ) {
    self.path = path
    self.request = request
    self.response = response
  }
}
