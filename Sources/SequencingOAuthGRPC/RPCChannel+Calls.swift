import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Ways to make calls with the channel's credential.
extension RPCChannel {
  /// Creates a call that is not started; `request` is its one message, encoded.
  ///
  /// Throws what ``RPCCall/init(channel:method:request:kind:)`` throws.
  public func call(
    _ method: String, request: Data = Data(), kind: RPCCall.Kind = .unary
  ) throws(RPCError) -> RPCCall {
    try RPCCall(channel: self, method: method, request: request, kind: kind)
  }

  /// Creates a call that is not started, and encodes its one message.
  ///
  /// Read its response with ``RPCCall/response(as:)`` or ``RPCCall/messages(as:)`` and the method's
  /// codec. Throws what ``RPCCall/init(channel:method:request:kind:)`` throws, and
  /// ``RPCStatus/internal`` if the message cannot be encoded.
  public func call<Request, Response>(
    _ method: RPCMethod<Request, Response>, _ message: Request, kind: RPCCall.Kind = .unary
  ) throws(RPCError) -> RPCCall {
    try call(method.path, request: try method.request.bytes(of: message), kind: kind)
  }

  /// Makes a unary call and returns its response.
  ///
  /// If `timeout` is `nil`, the timeout of the channel's options applies.
  ///
  /// - Throws: ``RPCError`` if the call ends with another status than ``RPCStatus/ok``.
  public func unary<Request, Response>(
    _ method: RPCMethod<Request, Response>, _ message: Request,
    metadata: RPCMetadata = RPCMetadata(), timeout: Duration? = nil
  ) async throws(RPCError) -> Response {
    let call = try call(method, message)
    try call.setRequestMetadata(metadata)
    if let timeout { try call.setTimeout(timeout) }
    return try method.response.message(of: try await call.response())
  }

  /// Makes a unary call for code without `async`; see ``unary(_:_:metadata:timeout:)``.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``.
  public func unary<Request: Sendable, Response: Sendable>(
    _ method: RPCMethod<Request, Response>, _ message: Request,
    metadata: RPCMetadata = RPCMetadata(), timeout: Duration? = nil,
    completion: @escaping @isolated(any) (Result<Response, RPCError>) -> Void
  ) {
    callbacks.complete(completion) { () throws(RPCError) in
      try await self.unary(method, message, metadata: metadata, timeout: timeout)
    }
  }
}
