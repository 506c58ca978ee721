/// A method of a gRPC service: its path and the codecs of its messages.
public struct RPCMethod<Request: Sendable, Response: Sendable>: Sendable {
  /// The path of the method: `/package.Service/Method`.
  public let path: String
  /// The codec that turns requests into bytes.
  public let request: any MessageCodec<Request>
  /// The codec that turns bytes into responses.
  public let response: any MessageCodec<Response>

  /// Creates a description of a method from its path and its codecs.
  public init(
    _ path: String, request: any MessageCodec<Request>, response: any MessageCodec<Response>
  ) {
    self.path = path
    self.request = request
    self.response = response
  }
}
