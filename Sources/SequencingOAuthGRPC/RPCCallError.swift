public import SQBasics
public import SQFoundation
public import SequencingOAuth

/// The error of a gRPC call that failed or was not made.
///
/// Its texts contain no token: if the server repeats the call's token, the SDK removes it.
public struct RPCCallError: Error, Sendable {
  /// The call's final status.
  public let status: RPCStatus
  /// The reason in words, from the server or the SDK; empty if the server's status has no message.
  public let message: String
  /// The server's headers and trailers, as in ``RPCCall/responseMetadata``; empty if the error does
  /// not come from the server's answer.
  public let metadata: RPCMetadata
  /// Whether the server reported the failure or reset the call.
  ///
  /// If `false`, the call failed in this program or on the network.
  public let isFromServer: Bool
  /// The underlying error, such as an `SQOAuthError` that says why there is no token, or why the
  /// server refused it.
  public let cause: (any Error)?

  /// Creates an error; the message must contain no secret.
  public init(
    _ status: RPCStatus, _ message: String, metadata: RPCMetadata = RPCMetadata(),
    isFromServer: Bool = false, cause: (any Error)? = nil
  ) {
    self.status = status
    self.message = message
    self.metadata = metadata
    self.isFromServer = isFromServer
    self.cause = cause
  }

  /// The ``cause`` if it is an `SQOAuthError`, for example when there is no token for the call.
  ///
  /// If the server refused the account's token with a challenge, the error says why, and
  /// `AuthorizationModule.requestAccess(answering:)` asks the user for what the server demands.
  ///
  /// If there is no token, the status is ``RPCStatus/unavailable`` if a later call may get one:
  /// after a failure of the network, the authorization server or the token store, or while another
  /// process uses or has just changed the account. Otherwise it is ``RPCStatus/unauthenticated``, or
  /// ``RPCStatus/cancelled``.
  public var oauthError: SQOAuthError? { cause as? SQOAuthError }

  /// The value of the server's `www-authenticate`: why the server rejected the token.
  public var oauth2ChallengeHeader: String? { metadata.oauth2ChallengeHeader }

  /// The server's reason for rejecting the token: a Bearer or DPoP challenge in its
  /// `www-authenticate`.
  ///
  /// If there are several challenges, this is the first challenge with an error code, or the first
  /// challenge if none has an error code.
  public var challenge: TokenChallenge? { metadata.challenge }
}

extension RPCCallError: Redacted {
  /// The status and the message in one line: `UNAUTHENTICATED (16): message`.
  public var description: String { "\(status) (\(status.rawValue)): \(message)" }
  /// The properties to show, with only the names of the metadata and only the type of the cause.
  ///
  /// The values of the metadata and the text of the cause may contain a secret.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "status": status.description, "message": message, "metadata": metadata.description,
      "cause": cause.map { String(describing: type(of: $0)) } ?? "none",
    ]
  }
}

extension RPCCallError: LocalizedError {
  /// The text of `localizedDescription`: ``message``, or the status if the message is empty.
  public var errorDescription: String? {
    message.isEmpty ? "the call ended with status \(status)" : message
  }
}

extension RPCCallError {
  /// Creates the error of a call that failed because there is no usable connection.
  init(transport error: SQOAuthError) {
    let status: RPCStatus
    switch error.code {
    case .cancelled: status = .cancelled
    case .requestTimedOut: status = .deadlineExceeded
    case .responseTooLarge: status = .resourceExhausted
    case .malformedRequest: status = .invalidArgument
    case .invalidConfiguration: status = .failedPrecondition
    default: status = .unavailable
    }
    self.init(status, error.message, cause: error)
  }

  /// Creates the error of a call that failed because there is no token for it.
  init(credential error: SQOAuthError) {
    let status: RPCStatus
    switch error.code {
    case .cancelled: status = .cancelled
    // The call was not sent, and the next one may get a token, so it may be made again. The status
    // is not `deadlineExceeded` after a timeout: the server cannot have done the work.
    case .storeFailed, .accountInUse, .accountChanged: status = .unavailable
    case _ where error.isOutage: status = .unavailable
    default: status = .unauthenticated
    }
    self.init(
      status, "there is no access token for the call: \(error.message)", cause: error)
  }

  /// The HTTP status of an answer that may refuse the call's token; otherwise `nil`.
  var asHTTP: Int? {
    switch status {
    case .unauthenticated: 401
    case .permissionDenied: 403
    default: nil
    }
  }

  /// Returns this error with the reason why the server refused a call's token as its cause.
  func refusing(_ authorization: RequestAuthorization) -> RPCCallError {
    guard isFromServer, cause == nil, challenge != nil, let asHTTP,
      let refusal = authorization.refusal(status: asHTTP, fields: metadata.fields)
    else { return self }
    return RPCCallError(status, message, metadata: metadata, isFromServer: true, cause: refusal)
  }

  /// Returns this error without a call's secrets in its message.
  func removing(_ secrets: CallSecrets) -> RPCCallError {
    RPCCallError(
      status, secrets.sent.removed(from: message), metadata: metadata, isFromServer: isFromServer,
      cause: cause)
  }

  static let cancelled = RPCCallError(.cancelled, "the call was cancelled")
  static let timeIsUp = RPCCallError(.deadlineExceeded, "the call took longer than its timeout")
  static let started = RPCCallError(
    .failedPrecondition,
    "the call was already started or cancelled; it can no longer be changed or started")
}
