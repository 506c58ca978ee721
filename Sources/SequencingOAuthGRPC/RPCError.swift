public import Basics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a call failed, or was not made.
///
/// Its texts hold no token: where a server repeats the one that it was sent, it is blotted out.
public struct RPCError: Error, Sendable {
  /// The status that the call ended with.
  public let status: RPCStatus
  /// What happened: the server's words, or ours.
  public let message: String
  /// What the server sent besides: the headers and the trailers, as in
  /// ``RPCCall/responseMetadata``.
  public let metadata: RPCMetadata
  /// Whether the server said so; otherwise the failure is on the way to it or on this side.
  public let isFromServer: Bool
  /// The error that led to this one, such as an `SQOAuthError` that says why there is no token.
  public let cause: (any Error)?

  /// Makes an error; the message must hold no secret.
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

  /// Why the SDK refused or could not do what was asked, where that is the cause.
  public var oauthError: SQOAuthError? { cause as? SQOAuthError }

  /// The server's `www-authenticate`, as it came.
  public var oauth2ChallengeHeader: String? { metadata.oauth2ChallengeHeader }

  /// The same, read: the first Bearer challenge that names an error, else the first.
  public var challenge: BearerChallenge? { metadata.challenge }
}

extension RPCError: Redacted {
  /// `UNAUTHENTICATED (16): message`, in one line.
  public var description: String { "\(status) (\(status.rawValue)): \(message)" }
  /// The metadata by its names, and the cause by its type only: their texts may hold a secret.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "status": status.description, "message": message, "metadata": metadata.description,
      "cause": cause.map { String(describing: type(of: $0)) } ?? "none",
    ]
  }
}

extension RPCError: LocalizedError {
  /// ``message``, or the status if a server gave no message; what `localizedDescription` says.
  public var errorDescription: String? {
    message.isEmpty ? "the call ended with status \(status)" : message
  }
}

extension RPCError {
  /// What a failure of the transport means to a call.
  ///
  /// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Errors"
  init(transport error: SQOAuthError) {
    let status: RPCStatus
    switch error.code {
    case .cancelled: status = .cancelled
    case .requestTimedOut: status = .deadlineExceeded
    case .responseTooLarge: status = .resourceExhausted
    case .malformedRequest: status = .invalidArgument
    case .invalidConfiguration: status = .failedPrecondition
    default: status = HTTPMapping.status(of: error)
    }
    self.init(status, error.message, cause: error)
  }

  /// What a failure to get a token means: nothing was sent.
  init(credential error: SQOAuthError) {
    self.init(
      error.code == .cancelled ? .cancelled : .unauthenticated,
      "no access token for the call, so it was not made: \(error.message)", cause: error)
  }

  static let cancelled = RPCError(.cancelled, "the call was cancelled")
  static let timeIsUp = RPCError(.deadlineExceeded, "the call's time was up")
  static let started = RPCError(
    .failedPrecondition, "the call was started; it can no longer be changed or started again")
}
