public import SQFoundation
import SequencingOAuth

/// Methods that create calls with the channel's credential, or run them at once.
extension RPCChannel {
  /// Creates a call without starting it; `request` is the client's only message, encoded.
  ///
  /// Throws the errors of ``RPCCall/init(channel:method:request:kind:)``.
  public func call(
    _ method: String, request: Data = Data(), kind: RPCCall.Kind = .unary
  ) throws(RPCCallError) -> RPCCall {
    try RPCCall(channel: self, method: method, request: request, kind: kind)
  }

  /// Creates a call without starting it, and encodes the client's only message.
  ///
  /// Read the response with ``RPCCall/response(as:)`` or ``RPCCall/messages(as:)`` and the method's
  /// codec. Throws the errors of ``RPCCall/init(channel:method:request:kind:)``, and
  /// ``RPCStatus/internal`` if the message cannot be encoded.
  public func call<Request, Response>(
    _ method: RPCMethod<Request, Response>, _ message: Request, kind: RPCCall.Kind = .unary
  ) throws(RPCCallError) -> RPCCall {
    try call(method.path, request: try method.request.bytes(of: message), kind: kind)
  }

  /// Makes a unary call and returns its response.
  ///
  /// If `timeout` is `nil`, the timeout of the channel's options applies.
  ///
  /// - Throws: ``RPCCallError`` if the call ends with a status other than ``RPCStatus/ok``.
  public func unary<Request, Response>(
    _ method: RPCMethod<Request, Response>, _ message: Request,
    metadata: RPCMetadata = RPCMetadata(), timeout: Duration? = nil
  ) async throws(RPCCallError) -> Response {
    let call = try call(method, message)
    try call.setRequestMetadata(metadata)
    if let timeout { try call.setTimeout(timeout) }
    return try method.response.message(of: try await call.response())
  }

  /// Makes a unary call and passes its response to a completion, for code without `async`.
  ///
  /// The completion is called once. If it is isolated to an actor, it runs on that actor, otherwise
  /// on ``callbackQueue``. For the parameters and errors, see ``unary(_:_:metadata:timeout:)``.
  public func unary<Request: Sendable, Response: Sendable>(
    _ method: RPCMethod<Request, Response>, _ message: Request,
    metadata: RPCMetadata = RPCMetadata(), timeout: Duration? = nil,
    completion: @escaping @isolated(any) (Result<Response, RPCCallError>) -> Void
  ) {
    callbacks.complete(completion) { () throws(RPCCallError) in
      try await self.unary(method, message, metadata: metadata, timeout: timeout)
    }
  }
}
