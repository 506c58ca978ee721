public import SQBasics
public import SQFoundation
public import SequencingOAuth

/// The error of a ``Pipeline/Pipe``'s operation.
///
/// A later version may add cases, so write a `default` in a `switch`.
public enum PipeError: Error, Sendable {
  /// No valid token is available: the sign-in or the refresh failed or is not possible.
  ///
  /// The API has not performed the operation.
  case noAccess(SQOAuthError)
  /// The API responded with a status other than 200 to 299.
  case refused(Refusal)
  /// The API reported success, but its response is not the expected JSON.
  case unreadable(SQOAuthError)
  /// The operation was cancelled, but the API may have performed it.
  ///
  /// Either the task was cancelled, or ``Pipeline/Pipe/cancel()`` was called.
  case cancelled
  /// No response came in time, but the API may have performed the operation.
  ///
  /// The limit is ``PipeConfiguration/timeout``.
  case timedOut(SQOAuthError)
  /// The request was not sent, the connection failed, the response was too large, or a file could
  /// not be used.
  ///
  /// A request is not sent, for example, if its server must not get the token. If the connection
  /// failed or the response was too large, the API may have performed the operation.
  case failed(SQOAuthError)

  /// The underlying error; `nil` for ``refused(_:)`` and ``cancelled``.
  public var cause: SQOAuthError? {
    switch self {
    case .noAccess(let error), .unreadable(let error), .timedOut(let error), .failed(let error):
      error
    case .refused, .cancelled: nil
    }
  }

  /// The API's response if the error is ``refused(_:)``; otherwise `nil`.
  public var refusal: Refusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }
}

extension PipeError {
  /// An API's response with a status other than 200 to 299.
  public struct Refusal: Sendable, Hashable {
    /// The maximum number of bytes that are kept of a response's content.
    public static let maximumBytes = 64 * 1024

    /// The status and the header fields.
    public let head: WebResponseHead
    /// The content, cut at ``maximumBytes``; empty if it was larger than the pipe allows.
    public let body: Data
    /// The API's reason for refusing the token; `nil` if it gave none.
    public let challenge: TokenChallenge?
    /// The SDK's error if the API refused the token or its scope; otherwise `nil`.
    ///
    /// `AuthorizationModule.requestAccess(answering:)` asks the user for what the API demands.
    public var oauthError: SQOAuthError? { reason.error }
    private let reason: Reason

    /// The HTTP status, such as 404.
    public var status: Int { head.status }

    init(
      _ response: WebResponse, challenge: TokenChallenge? = nil, oauthError: SQOAuthError? = nil
    ) {
      head = response.head
      body = response.body.cut(at: Self.maximumBytes)
      self.challenge = oauthError?.challenge ?? challenge
      reason = Reason(error: oauthError)
    }

    /// An error that does not affect the equality of refusals.
    private struct Reason: Sendable, Hashable {
      let error: SQOAuthError?

      static func == (one: Self, other: Self) -> Bool { true }
      func hash(into hasher: inout Hasher) {}
    }
  }
}

extension PipeError: Redacted {
  /// The error in one line, without the content of a response.
  public var description: String {
    switch self {
    case .noAccess(let error): "no access: \(error)"
    case .refused(let refusal): refusal.description
    case .unreadable(let error): "unreadable: \(error)"
    case .cancelled: "cancelled"
    case .timedOut(let error), .failed(let error): error.description
    }
  }
}

extension PipeError: LocalizedError {
  /// The error as a sentence, for `localizedDescription`.
  ///
  /// It does not include the content of the API's response; see ``refusal``.
  public var errorDescription: String? {
    switch self {
    case .noAccess(let error): "there is no access: \(error.message)"
    case .refused(let refusal): refusal.description
    case .unreadable(let error), .timedOut(let error), .failed(let error): error.message
    case .cancelled: "the operation was cancelled"
    }
  }
}

extension PipeError.Refusal: Redacted {
  /// The status, and the challenge if there is one.
  public var description: String {
    let challenge = challenge.map { ": \($0)" } ?? ""
    return "the API answered with status \(status)\(challenge)"
  }
}
