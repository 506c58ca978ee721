import Basics

/// Carries requests to servers and brings back what they answer.
///
/// ``CurlHTTPClient`` is the default on Linux; an app may bring its own, which needs ``send(_:)`` only.
/// A client follows no redirect, keeps no cookie and no cache, and returns any status as a response.
/// It may be called from any task, any number of times at once.
public protocol HTTPClient: Sendable {
  /// Sends a request and returns when its response is complete.
  ///
  /// A client that is not ours may throw any error: the SDK reports one that is not an
  /// ``SQOAuthError`` as ``SQOAuthError/Code/connectionFailed`` with that error as its cause.
  /// Cancelling the task ends the request with ``SQOAuthError/Code/cancelled``.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse

  /// Sends a request that can also be ended while its task goes on.
  ///
  /// The client calls `whenStarted` once at most, with a closure that ends this request with
  /// ``SQOAuthError/Code/cancelled``. Any thread may call that closure, also when the request has
  /// ended already.
  ///
  /// The default gives the request a task of its own and cancels that task. Implement the method if
  /// the client can end a request without a task, which saves a part of the time of a small request.
  func send(
    _ request: HTTPRequest, whenStarted: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async throws -> HTTPResponse

  /// Whether the client may lose the end of an HTTP/2 response and still report success.
  ///
  /// libcurl before 8.14 may, when the server answers before it has read the whole request. With such
  /// a client the SDK refuses gRPC calls that send any number of messages, and a call whose status is
  /// missing fails as `unavailable`. The default is `false`.
  var mayLoseEndOfResponse: Bool { get }
}

extension HTTPClient {
  /// Sends a request in a task of its own, which the closure for `whenStarted` cancels.
  public func send(
    _ request: HTTPRequest, whenStarted: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async throws -> HTTPResponse {
    let interruption = Interruption()
    whenStarted(interruption.raise)
    return try await interruption.result { try await send(request) }.get()
  }

  /// `false`: a response is whole, or the request fails.
  public var mayLoseEndOfResponse: Bool { false }
}
