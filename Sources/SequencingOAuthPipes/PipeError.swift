public import SQBasics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The error of a ``Pipeline/Pipe``'s operation.
public enum PipeError: Error, Sendable {
  /// There is no valid token: the sign-in or the refresh failed or is not possible.
  ///
  /// The API has not acted on the operation.
  case noAccess(SQOAuthError)
  /// The API answered with a status other than 200 to 299.
  case refused(Refusal)
  /// The API reported success, but its answer is not the expected JSON.
  case unreadable(SQOAuthError)
  /// The task or ``Pipeline/Pipe/cancel()`` ended the operation; the API may have acted on it.
  case cancelled
  /// No answer came within ``PipeConfiguration/timeout``; the API may have acted on the operation.
  case timedOut(SQOAuthError)
  /// The request could not be made, the connection failed, or a file could not be written.
  case failed(SQOAuthError)

  /// The underlying error; `nil` for ``refused(_:)`` and ``cancelled``.
  public var cause: SQOAuthError? {
    switch self {
    case .noAccess(let error), .unreadable(let error), .timedOut(let error), .failed(let error):
      error
    case .refused, .cancelled: nil
    }
  }

  /// The API's answer if the error is ``refused(_:)``; otherwise `nil`.
  public var refusal: Refusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }
}

extension PipeError {
  /// An API's answer with a status other than 200 to 299.
  public struct Refusal: Sendable, Hashable {
    /// The largest part of an answer's content that is kept, in bytes.
    public static let maximumBytes = 64 * 1024

    /// The status and the header fields.
    public let head: HTTPResponseHead
    /// The content, cut at ``maximumBytes``; empty if it was larger than the pipe allows.
    public let body: Data
    /// The API's reason why it did not accept the token; `nil` if it gave none.
    public let challenge: BearerChallenge?

    /// The HTTP status, such as 404.
    public var status: Int { head.status }

    init(_ response: HTTPResponse, challenge: BearerChallenge? = nil) {
      head = response.head
      body = response.body.cut(at: Self.maximumBytes)
      self.challenge = challenge
    }
  }
}

extension PipeError: Redacted {
  /// The error in one line, without the content of an answer.
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
  /// The error in a sentence, for `localizedDescription`.
  ///
  /// It holds no content of the API's answer; ``refusal`` has the content.
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
